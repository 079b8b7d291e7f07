package testtool

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

// probe is a testing.TB that records how the test ended.
type probe struct {
	testing.TB
	failed, skipped bool
}

func (*probe) Helper() {}

func (p *probe) Fatalf(string, ...any) { p.failed = true; runtime.Goexit() }

func (p *probe) Skipf(string, ...any) { p.skipped = true; runtime.Goexit() }

func find(name string) (path string, p *probe) {
	p = &probe{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		path = Find(p, name, "nowhere")
	}()
	<-done
	return path, p
}

// TestFind checks that a missing program skips a test, but fails it in CI.
func TestFind(t *testing.T) {
	for ci, want := range map[string]probe{"": {skipped: true}, "false": {skipped: true}, "true": {failed: true}} {
		t.Run(ci, func(t *testing.T) {
			t.Setenv(EnvCI, ci)
			_, p := find("contextmem-no-such-program")
			assert.Equal(t, want, *p, "CI=%q", ci)
			path, p := find("go")
			assert.Equal(t, probe{}, *p)
			assert.NotEmpty(t, path)
		})
	}
}
