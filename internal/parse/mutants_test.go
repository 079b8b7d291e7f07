package parse

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/media"
)

var (
	mutantCount = flag.Int("mutants", 200, "mutants of each format that TestMutants parses")
	mutantSeed  = flag.Uint64("mutants.seed", 1, "seed of the mutations; a failure names the seed that repeats it")
	mutantDir   = flag.String("mutants.dir", "", "folder with more files to mutate")
)

// Bounds of one mutant under the default limits. The time is processor time, because wall-clock time depends on the load of the machine.
const (
	mutantTime     = 10 * time.Second
	mutantPatience = 30 * time.Minute
	mutantMemory   = 256 << 20
)

// TestMutants damages small files of every format in many ways and parses the results under the default limits. No result may panic, take
// more than 10 s of processor time or need more than 256 MB. To run more of them:
//
// go test -run 'Mutants/docx$' -mutants 100000 -timeout 0 ./internal/parse
func TestMutants(t *testing.T) {
	seeds := mutantSeeds(t)
	formats := make([]string, 0, len(seeds))
	for format := range seeds {
		formats = append(formats, format)
	}
	slices.Sort(formats)
	for _, format := range formats {
		t.Run(format, func(t *testing.T) { // not in parallel, because memory is measured
			n := *mutantCount
			if testing.Short() {
				n /= 10
			}
			runMutants(t, format, seeds[format], n)
		})
	}
}

// runMutants parses n mutants of one format.
func runMutants(t *testing.T, format string, seeds [][]byte, n int) {
	r := New()
	name := "a." + format
	var slowest time.Duration
	var most, held uint64
	read := 0
	for i := range n {
		s := *mutantSeed + uint64(i)
		data := mutate(rand.New(rand.NewPCG(s, uint64(len(format)))), seeds)
		in := document.Input{Name: name, Data: data}
		before := allocated()
		start := spent()
		doc, err := r.Parse(t.Context(), in, document.Limits{Timeout: mutantPatience})
		took, bytes := spent()-start, allocated()-before
		if fault := faultOf(doc, err); fault != "" {
			t.Fatalf("%s (-mutants.seed %d -mutants 1, %d bytes)", fault, s, len(data))
		}
		if err == nil {
			read++
		}
		slowest, most = max(slowest, took), max(most, bytes)
		if took > mutantTime {
			t.Fatalf("took %v (-mutants.seed %d -mutants 1, %d bytes)", took, s, len(data))
		}
		if bytes > mutantMemory/4 { // the total allocation bounds the peak
			peak := peakOf(func() { _, _ = r.Parse(t.Context(), in, document.Limits{Timeout: mutantPatience}) })
			if held = max(held, peak); peak > mutantMemory {
				t.Fatalf("held %d MB (-mutants.seed %d -mutants 1, %d bytes)", peak>>20, s, len(data))
			}
		}
	}
	t.Logf("%d mutants, %d with text: slowest %v, allocated at most %d MB, of those over %d MB held at most %d MB",
		n, read, slowest.Round(time.Millisecond), most>>20, mutantMemory/4>>20, held>>20)
}

// faultOf returns the guarantee of Parse that a result breaks, or "".
func faultOf(doc *document.Document, err error) string {
	if err != nil {
		var e *document.Error
		switch {
		case !errors.As(err, &e):
			return fmt.Sprintf("error %v is no *Error", err)
		case e.Kind == document.Internal || e.Kind == document.Timeout || strings.Contains(err.Error(), "reader failed"):
			return err.Error()
		}
		return ""
	}
	if strings.TrimSpace(doc.Text) == "" {
		return "empty text without an error"
	}
	control := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }
	for _, s := range []string{doc.Text, doc.Title} {
		if !utf8.ValidString(s) || strings.ContainsFunc(s, control) {
			return "text is not clean"
		}
	}
	last := 0
	for _, p := range doc.Pages {
		if p.Start < last || p.Start > len(doc.Text) {
			return fmt.Sprintf("page %d starts at %d", p.Number, p.Start)
		}
		last = p.Start
	}
	return ""
}

// allocated returns the number of bytes that the process has allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// peakOf runs f and returns the greatest growth of the heap in bytes, including garbage that is not yet collected.
func peakOf(f func()) uint64 {
	debug.FreeOSMemory()
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	base, peak := s[0].Value.Uint64(), uint64(0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	for {
		metrics.Read(s)
		peak = max(peak, s[0].Value.Uint64())
		select {
		case <-done:
			return peak - min(peak, base)
		default:
			runtime.Gosched()
		}
	}
}

// mutantSeeds returns small files by format.
func mutantSeeds(t *testing.T) map[string][][]byte {
	t.Helper()
	seeds := map[string][][]byte{}
	add := func(name string, data []byte) {
		format := media.Ext(name)
		seeds[format] = append(seeds[format], data)
	}
	for name, data := range sampleFiles(t) {
		add(name, data)
	}
	for _, s := range charsetSamples {
		if data, err := s.enc.NewEncoder().Bytes([]byte(s.text)); err == nil {
			add("a.txt", data)
		}
	}
	add("a.tsv", []byte("bed\tplant\nnorth\t\"peas\tlate\"\n"))
	add("a.jsonl", []byte("{\"bed\":\"north\"}\n{\"rows\":[1,2.5e3,null,true]}\n"))
	add("a.fodt", []byte(`<?xml version="1.0"?><office:document office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text><text:h text:outline-level="1">Flat</text:h><text:p>file</text:p></office:text></office:body></office:document>`))
	add("a.pdf", pdfFile("The walled garden", "lies south", ""))
	dirs := []string{filepath.Join("pdf", "testdata", "*"), filepath.Join("testdata", "made"), *mutantDir}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		for _, f := range files {
			if strings.HasSuffix(f, ".md") || strings.HasSuffix(f, ".want") {
				continue
			}
			if format := media.Ext(f); format == "pdf" || dir == filepath.Join("testdata", "made") || dir == *mutantDir && seeds[format] != nil {
				data, err := os.ReadFile(f)
				require.NoError(t, err)
				add(f, data)
			}
		}
	}
	return seeds
}
