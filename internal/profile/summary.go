package profile

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/block"
)

// Bounds of the text that a Summarizer reads. It is longer than the summary, since a model condenses it.
const (
	readFor = 4    // tokens to read for each token of the summary
	readMin = 1000 // least number of tokens to read
	readMax = 8000
)

// summarise sets the summary of a profile. Without a Summarizer the summary consists of sentences of the sources. With one, the Summarizer writes it from more sentences. The only error is that of ctx.
func (e *Engine) summarise(ctx context.Context, p *facts.Profile, most int) error {
	lines, tokens, all := sentences(p, most)
	text := strings.Join(lines, "")
	if e.Summarizer != nil && len(lines) > 0 {
		more, _, whole := sentences(p, min(max(readFor*most, readMin), readMax))
		for i := range more {
			more[i] = strings.TrimSuffix(more[i], "\n")
		}
		written, err := e.write(ctx, facts.SummaryRequest{Subject: p.Subject, Statements: more, MaxTokens: most})
		switch {
		case err == nil:
			p.Summary, p.SummaryBy, p.Tokens, p.Truncated = written, e.Summarizer.Model(), block.Tokens(written), p.Truncated || !whole
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case e.Logger != nil:
			e.Logger.LogAttrs(ctx, slog.LevelWarn, "a profile was not summarised: it has the sources' own sentences", slog.String("err", err.Error()))
		}
	}
	p.Summary, p.Tokens, p.Truncated = text, tokens, p.Truncated || !all
	return nil
}

// write calls the Summarizer and checks its result.
func (e *Engine) write(ctx context.Context, r facts.SummaryRequest) (text string, err error) {
	err = fault.Guard(func() (err error) {
		text, err = e.Summarizer.Summarize(ctx, r)
		return err
	})
	if err != nil {
		return "", err
	}
	text = strings.TrimSpace(strings.ToValidUTF8(text, ""))
	if text == "" || block.Tokens(text) > r.MaxTokens {
		return "", errors.New("the summary is empty or longer than was asked for")
	}
	return text, nil
}

// sentences returns the statements of a profile that fit into most tokens, each with a line feed. It takes the newest statement of each slot in order, then the
// newest without a slot, then the second newest of each, and so on. The result is in the order of slots. all reports whether all statements fit.
func sentences(p *facts.Profile, most int) (texts []string, tokens int, all bool) {
	type line struct {
		slot, place int
		text        string
	}
	var lines []line
	all = true
	seen := map[string]bool{}
	groups := append(slices.Clone(p.Slots), facts.SlotFacts{Facts: p.Other}) // facts without a slot come last
	for i := range groups {
		for _, s := range groups[i].Statements {
			groups[i].Facts = append(groups[i].Facts[:len(groups[i].Facts):len(groups[i].Facts)], facts.Fact{Text: s.Text})
		}
	}
	for place := 0; ; place++ {
		left := false
		for i, s := range groups {
			if place >= len(s.Facts) {
				continue
			}
			left = true
			f := &s.Facts[place]
			text := cmp.Or(f.Text, f.Evidence)
			if text == "" || seen[text] {
				continue
			}
			seen[text] = true
			if !f.Since.IsZero() {
				switch {
				case f.Status == facts.Upcoming:
					text += " (from " + dated(f.Since, f.Precision) + ")"
				case s.Card == facts.History || !f.Until.IsZero():
					text += " (" + dated(f.Since, f.Precision) + ")"
				default:
					text += " (since " + dated(f.Since, f.Precision) + ")"
				}
			}
			if n := block.Tokens(text) + 1; tokens+n <= most {
				tokens += n
				lines = append(lines, line{i, place, text})
			} else {
				all = false
			}
		}
		if !left {
			break
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.place, b.place)) })
	for _, l := range lines {
		texts = append(texts, l.text+"\n")
	}
	return texts, tokens, all
}

// dated formats a time with the given precision.
func dated(t time.Time, precision string) string {
	switch precision {
	case extract.PrecisionYear:
		return t.Format("2006")
	case extract.PrecisionMonth:
		return t.Format("2006-01")
	}
	return t.Format(time.DateOnly)
}
