package main

import (
	"fmt"
	"io"
	"time"
)

// progress shows the number of bytes read or written on a terminal.
type progress struct {
	a     *app
	verb  string
	w     io.Writer
	r     io.Reader
	bytes int64
	shown time.Time
}

// Write implements io.Writer.
func (p *progress) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.add(n)
	return n, err
}

// Read implements io.Reader.
func (p *progress) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.add(n)
	return n, err
}

// add adds n bytes. It updates the terminal at most ten times a second.
func (p *progress) add(n int) {
	p.bytes += int64(n)
	if p.a.bar && !p.a.asJSON && time.Since(p.shown) > 100*time.Millisecond {
		p.shown = time.Now()
		fmt.Fprintf(p.a.err, "\r\033[K%s %s", p.verb, size(p.bytes))
	}
}

// end erases the progress line.
func (p *progress) end() {
	if !p.shown.IsZero() {
		fmt.Fprint(p.a.err, "\r\033[K")
	}
}
