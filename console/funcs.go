package console

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
)

// funcs are the functions that templates can call.
func funcs(texts map[string]string) template.FuncMap {
	text := func(key string, args ...any) (string, error) {
		s, ok := texts[key]
		if !ok {
			return "", fmt.Errorf("no text %q", key)
		}
		if len(args) > 0 {
			s = fmt.Sprintf(s, args...)
		}
		return s, nil
	}
	return template.FuncMap{
		"t": text,
		// has reports whether a text exists for a key. A newer service may return values without a text.
		"has": func(key string) bool { _, ok := texts[key]; return ok },
		"day": func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.UTC().Format("2006-01-02")
		},
		"moment": func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.UTC().Format("2006-01-02 15:04")
		},
		"iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"ago": ago,
		"took": func(d time.Duration) string {
			switch {
			case d <= 0:
				return "–"
			case d < time.Millisecond:
				return fmt.Sprintf("%d µs", d.Microseconds())
			case d < 10*time.Second:
				return fmt.Sprintf("%.3g ms", float64(d.Microseconds())/1000)
			}
			return d.Round(time.Second).String()
		},
		"score":   func(f float64) string { return fmt.Sprintf("%.3f", f) },
		"percent": func(f float64) string { return fmt.Sprintf("%d %%", int(math.Round(f*100))) },
		"bytes": func(n int64) string {
			switch {
			case n < 1<<10:
				return fmt.Sprintf("%d B", n)
			case n < 1<<20:
				return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
			case n < 1<<30:
				return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
			}
			return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
		},
		"strike": strike,
		"count":  func(m map[contextmem.Status]int, s string) int { return m[contextmem.Status(s)] },
		"class":  className,
		"words":  func(s string) string { return strings.ReplaceAll(s, "_", " ") },
		"cut": func(n int, s string) string {
			c, more := cut(s, n)
			return map[bool]string{false: c, true: c + "…"}[more]
		},
		"plural": plural,
		"add":    func(a, b int) int { return a + b },
		// query builds an escaped query string from names and values. Empty values are left out.
		"query": func(pairs ...string) (template.URL, error) {
			if len(pairs)%2 != 0 {
				return "", fmt.Errorf("query: %d values", len(pairs))
			}
			q := url.Values{}
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i+1] != "" {
					q.Set(pairs[i], pairs[i+1])
				}
			}
			return template.URL(q.Encode()), nil
		},
		"list":   func(s []string) string { return strings.Join(s, ", ") },
		"scopes": func(s []contextmem.Scope) string { return strings.Join(scopeNames(s), ", ") },
		// plain removes characters that change the text direction. The window title needs it, because text cannot be isolated there.
		"plain": func(s string) string {
			return strings.Map(func(r rune) rune {
				if r < ' ' || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x61c {
					return -1
				}
				return r
			}, s)
		},
	}
}

func scopeNames(list []contextmem.Scope) (out []string) {
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}

// textPart is a stretch of a text that holds or no longer does.
type textPart struct {
	Text string
	Gone bool
}

// strike splits the text of a superseded memory into what holds and what no longer does. Where a part ended whose words the text does not have, nothing is
// marked: the label names the words.
func strike(text string, by *contextmem.Supersession) []textPart {
	if !by.Partly {
		return []textPart{{text, true}}
	}
	before, after, found := strings.Cut(text, by.Matter)
	if !found || by.Matter == "" {
		return []textPart{{text, false}}
	}
	out := []textPart{{before, false}, {by.Matter, true}, {after, false}}
	return slices.DeleteFunc(out, func(p textPart) bool { return p.Text == "" })
}
