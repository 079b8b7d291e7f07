// Command prose makes a text of many different words for ../upload: paragraphs of the given files and directories, none of them twice, in an order that
// is the same in each run.
//
//	go run ./cmd/prose -size 20 -out prose.md conversations.json.gz docs/ /usr/share/doc
//
// It reads files with the endings txt, md, rst and json, each also with .gz. Of JSON it takes the strings. A paragraph ends at an empty line; shorter
// ones than 80 bytes are left out. The paragraphs are shuffled, so that parts of the text that are uploaded as files of their own speak of the same
// people and projects. A file gives at most a quarter of the size.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const shortest = 80 // bytes of a paragraph

func main() {
	out := flag.String("out", "", "file to write")
	size := flag.Int("size", 20, "megabytes of text, at most")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: prose -out FILE [-size MB] FILE|DIRECTORY ...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *out == "" || *size < 1 || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out, *size*1_000_000, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

func run(out string, size int, from []string) error {
	c := collection{most: size / 4, known: make(map[string]bool)}
	for _, path := range from {
		if err := filepath.WalkDir(path, c.visit); err != nil {
			return err
		}
	}
	slices.SortFunc(c.paragraphs, cmp.Compare[string]) // the order in which the files are named does not matter
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(c.paragraphs), func(i, j int) { c.paragraphs[i], c.paragraphs[j] = c.paragraphs[j], c.paragraphs[i] })
	var b bytes.Buffer
	for _, p := range c.paragraphs {
		if b.Len()+len(p)+2 > size {
			break
		}
		b.WriteString(p + "\n\n")
	}
	fmt.Printf("%.1f of %.1f MB, %d paragraphs, %d different words\n", float64(b.Len())/1e6, float64(c.size)/1e6, bytes.Count(b.Bytes(), []byte("\n\n")), words(b.String()))
	return os.WriteFile(out, b.Bytes(), 0o644)
}

func words(text string) int {
	all := make(map[string]struct{})
	for w := range strings.FieldsSeq(text) {
		all[strings.ToLower(strings.Trim(w, `.,;:!?()[]"'*_`))] = struct{}{}
	}
	return len(all)
}

// collection is the paragraphs that were read.
type collection struct {
	paragraphs []string
	known      map[string]bool
	most       int // bytes that one file may give
	size       int // bytes of all paragraphs
}

func (c *collection) visit(path string, d fs.DirEntry, err error) error {
	if err != nil || !d.Type().IsRegular() {
		return err
	}
	name, zipped := strings.CutSuffix(path, ".gz")
	ending := filepath.Ext(name)
	if !slices.Contains([]string{".txt", ".md", ".rst", ".json"}, ending) {
		return nil
	}
	content, err := os.ReadFile(path)
	if err == nil && zipped {
		content, err = unzip(content)
	}
	if err != nil {
		return err
	}
	left := c.most
	if ending != ".json" {
		c.add(string(content), &left)
		return nil
	}
	var v any
	if json.Unmarshal(content, &v) == nil {
		c.strings(v, &left)
	}
	return nil
}

func unzip(content []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	return text, errors.Join(err, r.Close())
}

// strings adds the strings of a JSON value. The order in which it visits the members of an object varies, which run's sorting evens out.
func (c *collection) strings(v any, left *int) {
	switch v := v.(type) {
	case string:
		c.add(v, left)
	case []any:
		for _, e := range v {
			c.strings(e, left)
		}
	case map[string]any:
		for _, e := range v {
			c.strings(e, left)
		}
	}
}

// unwanted reports whether a character is one for which a server may take a text for something else.
func unwanted(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\t'
}

// add adds the paragraphs of a text, at most left bytes.
func (c *collection) add(text string, left *int) {
	for p := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n\n") {
		p = strings.TrimSpace(p)
		if len(p) < shortest || len(p) > *left || c.known[p] || strings.ContainsFunc(p, unwanted) {
			continue
		}
		c.known[p] = true
		c.paragraphs, c.size, *left = append(c.paragraphs, p), c.size+len(p)+2, *left-len(p)
	}
}
