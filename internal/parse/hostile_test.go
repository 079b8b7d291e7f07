package parse

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
)

// damage is a kind of damage. Its function returns a damaged copy of a file, or nil if the kind does not apply to it.
type damage struct {
	kind string
	do   func(rnd *rand.Rand, data []byte) []byte
}

var damages = []damage{
	{"cut in the first half", func(rnd *rand.Rand, data []byte) []byte { return data[:len(data)/4+rnd.IntN(len(data)/4+1)] }},
	{"cut in the second half", func(rnd *rand.Rand, data []byte) []byte { return data[:len(data)/2+rnd.IntN(len(data)/2)] }},
	{"cut near the end", func(rnd *rand.Rand, data []byte) []byte {
		return data[:len(data)-1-rnd.IntN(min(len(data)/10+1, 2000))]
	}},
	{"zeros", func(rnd *rand.Rand, data []byte) []byte { return overwrite(rnd, data, func() byte { return 0 }) }},
	{"noise", func(rnd *rand.Rand, data []byte) []byte {
		return overwrite(rnd, data, func() byte { return byte(rnd.Uint32()) })
	}},
	{"hole", func(rnd *rand.Rand, data []byte) []byte {
		n := min(1024, len(data)/8)
		at := rnd.IntN(len(data) - n)
		return append(data[:at:at], data[at+n:]...)
	}},
	{"part gone", func(rnd *rand.Rand, data []byte) []byte {
		return rezip(data, func(name string, b []byte, pick bool) []byte {
			if pick {
				return nil
			}
			return b
		}, rnd)
	}},
	{"part empty", func(rnd *rand.Rand, data []byte) []byte {
		return rezip(data, func(_ string, b []byte, pick bool) []byte {
			if pick {
				return []byte{}
			}
			return b
		}, rnd)
	}},
	{"part cut", func(rnd *rand.Rand, data []byte) []byte {
		return rezip(data, func(_ string, b []byte, pick bool) []byte {
			if pick {
				return b[:len(b)/4+rnd.IntN(len(b)/2+1)]
			}
			return b
		}, rnd)
	}},
	{"part with a hole", func(rnd *rand.Rand, data []byte) []byte {
		return rezip(data, func(_ string, b []byte, pick bool) []byte {
			if n := len(b) / 5; pick && n > 0 {
				at := rnd.IntN(len(b) - n)
				return append(b[:at:at], b[at+n:]...)
			}
			return b
		}, rnd)
	}},
	{"object gone", func(rnd *rand.Rand, data []byte) []byte {
		objs := pdfObject.FindAllIndex(data, -1)
		if !bytes.HasPrefix(data, []byte("%PDF")) || len(objs) == 0 {
			return nil
		}
		o := objs[rnd.IntN(len(objs))]
		return append(append(data[:o[0]:o[0]], bytes.Repeat([]byte{' '}, o[1]-o[0])...), data[o[1]:]...)
	}},
}

var pdfObject = regexp.MustCompile(`(?s)\d+ 0 obj.*?endobj`)

// overwrite replaces 64 to 1,063 bytes.
func overwrite(rnd *rand.Rand, data []byte, with func() byte) []byte {
	out := bytes.Clone(data)
	n := min(64+rnd.IntN(1000), len(data)/4+1)
	at := rnd.IntN(len(data) - n + 1)
	for i := at; i < at+n; i++ {
		out[i] = with()
	}
	return out
}

// rezip repacks a container with one of its text files changed, or dropped if change returns nil.
func rezip(data []byte, change func(name string, b []byte, pick bool) []byte, rnd *rand.Rand) []byte {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil
	}
	var texts []string
	for _, f := range z.File {
		if n := f.Name; strings.HasSuffix(n, "ml") && !strings.Contains(n, "Content_Types") {
			texts = append(texts, n)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	chosen := texts[rnd.IntN(len(texts))]
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil
		}
		b, _ := io.ReadAll(r)
		_ = r.Close()
		if b = change(f.Name, b, f.Name == chosen); b == nil {
			continue
		}
		method := f.Method
		to, err := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: method})
		if err != nil {
			return nil
		}
		_, _ = to.Write(b)
	}
	_ = w.Close()
	return out.Bytes()
}

// hostileSeeds returns undamaged files by name.
func hostileSeeds(t *testing.T) map[string][]byte {
	t.Helper()
	seeds := map[string][]byte{}
	globs := []string{filepath.Join("testdata", "made", "*.*"), filepath.Join(ownCorpus, "files", "*")}
	if *corpusDir != ownCorpus {
		globs = append(globs, filepath.Join(*corpusDir, "files", "*"))
	}
	for _, g := range globs {
		files, err := filepath.Glob(g)
		require.NoError(t, err)
		for _, f := range files {
			name := filepath.Base(f)
			if strings.HasPrefix(name, "bad-") || strings.HasSuffix(name, ".want") || name == "README.md" || strings.HasPrefix(name, "scan") {
				continue
			}
			data, err := os.ReadFile(f)
			require.NoError(t, err)
			seeds[name] = data
		}
	}
	return seeds
}

// detectable reports whether a format makes that kind of damage detectable. Containers, pages and objects have an end and a directory, and
// markup is balanced, but a line missing from plain text leaves no trace.
func detectable(name, kind string) bool {
	switch filepath.Ext(name) {
	case ".doc", ".xls": // their records have no checksums
		return strings.HasPrefix(kind, "cut")
	case ".docx", ".pptx", ".odt", ".pdf", ".xlsx", ".epub":
		return kind != "part with a hole" // the hole may begin and end between the same elements
	}
	return kind == "zeros"
}

// TestDamageIsReported damages files in ways that lose text. It expects an error or a reason in Partial for each file that lost more than one
// word in a hundred.
func TestDamageIsReported(t *testing.T) {
	if testing.Short() {
		t.Skip("computes in one goroutine: left out with -short")
	}
	r := New()
	seeds := hostileSeeds(t)
	names := make([]string, 0, len(seeds))
	for n := range seeds {
		names = append(names, n)
	}
	slices.Sort(names)
	type tally struct{ lost, silent int }
	sums := map[string]*tally{}
	for _, name := range names {
		whole, err := r.Parse(t.Context(), document.Input{Name: name, Data: seeds[name]}, document.Limits{})
		if err != nil {
			continue
		}
		if whole.Partial != "" {
			t.Logf("%s: whole, and partial: %s", name, whole.Partial)
			continue
		}
		for _, d := range damages {
			for i := range *damageCount {
				data := d.do(rand.New(rand.NewPCG(uint64(i), uint64(len(name)))), bytes.Clone(seeds[name]))
				if len(data) == 0 {
					continue
				}
				doc, err := r.Parse(t.Context(), document.Input{Name: name, Data: data}, document.Limits{})
				key := strings.TrimPrefix(filepath.Ext(name), ".") + ": " + d.kind
				if sums[key] == nil {
					sums[key] = &tally{}
				}
				if err == nil && scoreText(doc.Text, whole.Text).recall > .99 {
					continue
				}
				sums[key].lost++
				if err == nil && doc.Partial == "" {
					sums[key].silent++
					if detectable(name, d.kind) {
						t.Errorf("%s, %s #%d: %.3f of its words are left and nothing says so", name, d.kind, i, scoreText(doc.Text, whole.Text).recall)
					}
					if *damageShow != "" && strings.Contains(key+" "+name, *damageShow) {
						t.Logf("%s %s #%d: recall %.3f", name, d.kind, i, scoreText(doc.Text, whole.Text).recall)
						_ = os.WriteFile(filepath.Join(os.TempDir(), fmt.Sprintf("documents-%s-%d-%s", strings.ReplaceAll(d.kind, " ", "_"), i, name)), data, 0o600)
					}
				}
			}
		}
	}
	keys := make([]string, 0, len(sums))
	for k := range sums {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	lost, silent := 0, 0
	for _, k := range keys {
		s := sums[k]
		lost, silent = lost+s.lost, silent+s.silent
		if s.silent > 0 {
			t.Logf("%-32s %3d of %3d silent", k, s.silent, s.lost)
		}
	}
	t.Logf("%d of %d damaged files that lost text say nothing", silent, lost)
}
