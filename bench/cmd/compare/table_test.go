package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// results returns the output of six benchmark runs. One benchmark takes slow, one has the rate in operations a second, one is constant.
func results(slow, rate float64) string {
	var b strings.Builder
	b.WriteString("goos: linux\npkg: example\n")
	for i := range 6 {
		noise := 1 + float64(i)/1000
		fmt.Fprintf(&b, "BenchmarkSlow 100 %.2f ns/op 8 B/op\n", slow*noise)
		fmt.Fprintf(&b, "BenchmarkRate 100 50.0 ns/op %.2f rows/s\n", rate*noise)
		fmt.Fprintf(&b, "BenchmarkSame 100 %.2f ns/op\n", 70*noise)
	}
	return b.String()
}

func TestWorseThan(t *testing.T) {
	for name, c := range map[string]struct {
		slow, rate float64
		want       []string
	}{
		"equal":                     {100, 1000, nil},
		"slower by less":            {103, 980, nil},
		"slower":                    {200, 1000, []string{"Slow: +100.00% sec/op"}},
		"fewer a second":            {100, 500, []string{"Rate: -50.00% rows/s"}},
		"faster and more a second":  {50, 2000, nil},
		"slower and more a second":  {110, 2000, []string{"Slow: +10.00% sec/op"}},
		"both are worse by a tenth": {110, 900, []string{"Slow: +10.00% sec/op", "Rate: -10.00% rows/s"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := []string{filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")}
			for i, text := range []string{results(100, 1000), results(c.slow, c.rate)} {
				if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			table, err := exec.CommandContext(t.Context(), "go", append([]string{"tool", "benchstat", "-format", "csv"}, files...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			got, err := worseThan(bytes.NewReader(table), 5)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got %q, want %q in\n%s", got, c.want, table)
			}
		})
	}
	if _, err := worseThan(strings.NewReader("nothing"), 5); err == nil {
		t.Error("nothing was compared")
	}
}
