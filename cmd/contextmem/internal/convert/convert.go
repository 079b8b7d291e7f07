// Package convert reads the exports of other memory systems and chat programs. The id of every item is derived from its id in the
// export, so that importing the same file again replaces the items of the first import.
package convert

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/content"
)

// Item is one memory or document of a file.
type Item struct {
	Owner  string                 // owner named in the file, such as a user; may be empty
	Memory *content.Memory        // set for a memory; otherwise File is set
	File   *content.File          // a document
	Graph  *content.SuppliedGraph // of Memory; may be nil
}

// Formats are the names of the supported formats.
var Formats = []string{"mem0", "mem0-sqlite", "zep", "mcp", "langchain", "chatgpt", "claude", "chromem"}

// ErrUnknown is returned for a file that has none of the supported formats.
var ErrUnknown = errors.New("the file is in none of the formats that can be read")

// maxFile is the maximal size of a file that is read into memory.
const maxFile = 2 << 30

// Read reads a file in the given format and returns the format. An empty format selects the format by content.
// The error for a malformed file states the position and never quotes content.
//
// name may be the directory of a chromem-go database or of an unpacked ChatGPT or Claude export.
// Read also accepts the ZIP archive of a ChatGPT or Claude export.
func Read(name, format string, open func() (io.ReadCloser, error)) ([]Item, string, error) {
	if i, err := os.Stat(name); name != "" && err == nil && i.IsDir() {
		return readDir(name, format)
	}
	if format == "" || format == "mem0-sqlite" {
		sqlite, err := isSQLite(open)
		if err != nil {
			return nil, "", err
		}
		if sqlite {
			items, err := mem0History(name)
			return items, "mem0-sqlite", err
		}
		if format != "" {
			return nil, format, errors.New("the file is no SQLite database")
		}
	}
	b, err := readAll(open)
	if err != nil {
		return nil, format, err
	}
	if bytes.HasPrefix(b, []byte("PK\x03\x04")) {
		return readZip(b, format)
	}
	if format == "" {
		if format = detect(b); format == "" {
			return nil, "", ErrUnknown
		}
	}
	read, ok := map[string]func([]byte) ([]Item, error){"mem0": mem0, "zep": zep, "mcp": mcpMemory, "langchain": langchain, "chatgpt": chatgpt, "claude": claude, "chromem": chromem}[format]
	if !ok {
		return nil, format, ErrUnknown
	}
	items, err := read(b)
	return items, format, err
}

func isSQLite(open func() (io.ReadCloser, error)) (bool, error) {
	r, err := open()
	if err != nil {
		return false, errors.New("the file can't be read")
	}
	defer r.Close()
	head := make([]byte, 16)
	n, _ := io.ReadFull(r, head) // a shorter file is none
	return n == 16 && string(head) == "SQLite format 3\x00", nil
}

// readAll reads a file, which may be compressed with gzip.
func readAll(open func() (io.ReadCloser, error)) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, errors.New("the file can't be read")
	}
	defer r.Close()
	br := bufio.NewReader(r)
	var from io.Reader = br
	if magic, _ := br.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, errors.New("the file is a damaged gzip")
		}
		from = z
	}
	b, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	if err != nil {
		return nil, errors.New("the file can't be read to its end")
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("the file is over %d bytes", int64(maxFile))
	}
	return bytes.TrimPrefix(b, []byte("\ufeff")), nil
}

// detect returns the format of a file, judged by the JSON names in it.
func detect(b []byte) string {
	t := bytes.TrimLeft(b, " \t\r\n")
	if len(t) == 0 {
		return ""
	}
	if t[0] != '{' && t[0] != '[' {
		if _, err := chromem(b); err == nil {
			return "chromem"
		}
		return ""
	}
	var one map[string]json.RawMessage
	list := firstOf(t)
	if json.Unmarshal(list, &one) != nil {
		return ""
	}
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { _, ok := one[n]; return !ok })
	}
	switch {
	case has("mapping"):
		return "chatgpt"
	case has("chat_messages"):
		return "claude"
	case has("memory", "id"), has("results"), has("memories"):
		return "mem0"
	case has("type", "name", "observations"), has("type", "from", "to"):
		return "mcp"
	case has("edges"), has("facts"), has("episodes"), has("fact", "uuid"), has("items", "total_size"), has("role", "uuid", "content"):
		return "zep"
	case has("type", "data"), has("lc", "kwargs"), has("messages"):
		return "langchain"
	}
	return ""
}

// firstOf returns the first value of a JSON array or of JSON lines, or the value itself.
func firstOf(b []byte) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(b))
	if b[0] == '[' {
		if _, err := d.Token(); err != nil || !d.More() {
			return nil
		}
	}
	var v json.RawMessage
	_ = d.Decode(&v) // the result stays nil on an error
	return v
}

// elements decodes a JSON array, the array under one of the names of an object, or JSON lines.
func elements[T any](b []byte, names ...string) ([]T, error) {
	t := bytes.TrimLeft(b, " \t\r\n")
	if len(t) == 0 {
		return nil, errors.New("the file is empty")
	}
	d := json.NewDecoder(bytes.NewReader(t))
	d.UseNumber()
	var out []T
	if t[0] == '[' {
		return out, at(d.Decode(&out), d)
	}
	for {
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, at(err, d)
		}
		var wrapped map[string]json.RawMessage
		if err := json.Unmarshal(raw, &wrapped); err != nil {
			return nil, at(err, d)
		}
		found := false
		for _, n := range names {
			if inner, ok := wrapped[n]; ok && len(inner) > 0 && inner[0] == '[' {
				var list []T
				if err := json.Unmarshal(inner, &list); err != nil {
					return nil, at(err, d)
				}
				out, found = append(out, list...), true
			}
		}
		if found {
			continue
		}
		var one T
		if err := json.Unmarshal(raw, &one); err != nil {
			return nil, at(err, d)
		}
		out = append(out, one)
	}
}

// at returns a decoding error with its position and without content.
func at(err error, d *json.Decoder) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the file is malformed near byte %d", d.InputOffset())
}

// moment parses a time in the formats that exports use. It returns the zero time for other formats.
func moment(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05.999999999", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

// turn is a message of a conversation.
type turn struct {
	user bool
	text string
	at   time.Time
}

// conversation converts turns into memories of one session, one memory for each exchange.
func conversation(prefix, id, title string, turns []turn) []Item {
	var out []Item
	var p content.Pair
	var when time.Time
	flush := func() {
		if p.User == "" && p.Assistant == "" {
			return
		}
		n := len(out)
		out = append(out, Item{Memory: &content.Memory{ID: fmt.Sprintf("%s-%s-%d", prefix, id, n), Pairs: []content.Pair{p}, Title: title, Time: when, Session: prefix + "-" + id}})
		p, when = content.Pair{}, time.Time{}
	}
	for _, t := range turns {
		text := strings.TrimSpace(t.text)
		if text == "" {
			continue
		}
		if t.user && p.Assistant != "" {
			flush()
		}
		if when.IsZero() {
			when = t.at
		}
		to := &p.Assistant
		if t.user {
			to = &p.User
		}
		*to = strings.TrimSpace(*to + "\n" + text)
	}
	flush()
	return out
}
