package inmem

import (
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// earliest returns the earlier of two times, where zero means none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// atOrEpoch replaces the zero time by the epoch where the zero time would mean "never" instead of "at any time".
func atOrEpoch(t time.Time) time.Time {
	if t.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return t
}

// expired reports whether an expiry time has passed.
func expired(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

func firstN[T any](s []T, n int) []T { return s[:min(max(n, 0), len(s))] }

func copySource(s *backend.Source) *backend.Source {
	c := *s
	c.Metadata, c.Additional = slices.Clone(s.Metadata), slices.Clone(s.Additional)
	c.Doc, c.Tags = slices.Clone(s.Doc), slices.Clone(s.Tags)
	return &c
}

func copyChunk(c *backend.Chunk, vector bool) backend.Chunk {
	out := *c
	out.Layout, out.Extra = slices.Clone(c.Layout), slices.Clone(c.Extra)
	out.Vector = nil
	if vector {
		out.Vector = slices.Clone(c.Vector)
	}
	return out
}
