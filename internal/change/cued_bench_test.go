package change

import (
	"os"
	"strings"
	"testing"

	"github.com/contextmem/contextmem/backend"
)

// BenchmarkCued looks for changes in sentences, as each memory is looked at when it comes in.
func BenchmarkCued(b *testing.B) {
	var texts []string
	for _, name := range []string{"changes.txt", "notes.txt"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if _, rest, ok := strings.Cut(line, ": "); ok && line[0] != '#' {
				texts = append(texts, strings.Split(strings.TrimSpace(rest), " => ")...)
			}
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s := statement{src: &backend.Source{}, text: texts[i%len(texts)]}
		s.cued()
	}
}
