package bench

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Report is the outcome of an experiment.
type Report struct {
	Title   string
	Data    string   // what was searched
	Columns []string // of Rows
	Rows    [][]string
	Targets []Target
	Notes   []string
}

// Target is a performance requirement of the engine with the measured value.
type Target struct {
	What     string
	Want     float64
	AtMost   bool // otherwise at least
	Got      float64
	Unit     string
	NotAsked bool // this run's sizes or contenders differ from those of the requirement
}

// Met reports whether the requirement is met.
func (t Target) Met() bool {
	if t.AtMost {
		return t.Got <= t.Want
	}
	return t.Got >= t.Want
}

func (t Target) String() string {
	bound, verdict := "at least", "missed"
	if t.AtMost {
		bound = "at most"
	}
	if t.Met() {
		verdict = "met"
	}
	if t.NotAsked {
		verdict = "small run, does not count"
	}
	return fmt.Sprintf("%s: %s %.4g%s, measured %.4g%s: %s", t.What, bound, t.Want, t.Unit, t.Got, t.Unit, verdict)
}

func (r *Report) row(cells ...string) { r.Rows = append(r.Rows, cells) }

func (r *Report) target(what string, atMost bool, want, got float64, unit string, full bool) {
	r.Targets = append(r.Targets, Target{What: what, Want: want, AtMost: atMost, Got: got, Unit: unit, NotAsked: !full})
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// WriteMarkdown writes the report as a table and lists.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s\n\n", r.Title, r.Data)
	if len(r.Rows) > 0 {
		fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(r.Columns, " | "), strings.Repeat("---|", len(r.Columns)))
		for _, row := range r.Rows {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		}
		b.WriteByte('\n')
	}
	for _, t := range r.Targets {
		fmt.Fprintf(&b, "- %s\n", t)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "- %s\n", n)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// took formats a duration with three digits.
func took(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%.2f µs", float64(d)/1e3)
	case d < time.Millisecond:
		return fmt.Sprintf("%.0f µs", float64(d)/1e3)
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.2f ms", float64(d)/1e6)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

func share(x float64) string {
	if x < 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", x)
}

func (t *Timing) cells(more ...string) []string {
	return append([]string{t.Name, share(t.Recall), took(t.P50), took(t.P99), took(t.Wall), fmt.Sprint(t.Asked)}, more...)
}

var timingColumns = []string{"search", "recall@10", "CPU p50", "CPU p99", "wall p50", "timed"}

func ratio(a, b time.Duration) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}
