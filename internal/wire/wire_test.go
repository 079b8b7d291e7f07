package wire

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
)

// fill sets every field of a value to something that is not zero.
func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(string(rune('a' + *n%26)))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(*n), 1000).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	default:
		require.Fail(t, "no value for a field", v.Kind().String())
	}
}

// requireRoundTrip checks that a value is unchanged after it was written as a W and read back.
func requireRoundTrip[W, T any](t *testing.T, write func(*T) W, read func(*W) T, full bool) {
	t.Helper()
	var in T
	if full {
		n := 0
		fill(t, reflect.ValueOf(&in).Elem(), &n)
	}
	b, err := json.Marshal(write(&in))
	require.NoError(t, err)
	assert.NotRegexp(t, `"(facts|slots|other|instructions|versions|changes|temporal_facts)":null`, string(b), "lists are never null")
	var w W
	require.NoError(t, json.Unmarshal(b, &w))
	assert.Equal(t, in, read(&w))
}

// TestRoundTrip checks that all fields of the library's types are read back, also empty ones. Warnings of pages are in an answer's meta.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for name, full := range map[string]bool{"full": true, "empty": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRoundTrip(t, OfFact, (*Fact).Fact, full)
			requireRoundTrip(t, func(p *facts.Page) FactsPage { p.Warnings = nil; return OfFactsPage(p) }, func(w *FactsPage) facts.Page {
				p, err := w.Page()
				require.NoError(t, err)
				return *p
			}, full)
			requireRoundTrip(t, func(p *facts.Profile) Profile { p.Warnings = nil; return OfProfile(p) }, func(w *Profile) facts.Profile { return *w.Profile() }, full)
			requireRoundTrip(t, func(u *content.ModelUsage) Usage { return *OfUsage(u) }, func(w *Usage) content.ModelUsage { return *w.Usage() }, full)
			requireRoundTrip(t, func(e *facts.Entity) Entity { e.Mentions = 0; return OfEntity(e) }, (*Entity).Entity, full)
			requireRoundTrip(t, func(e *facts.Evidence) Evidence {
				e.ValidFrom, e.ValidTo, e.Superseded = time.Time{}, time.Time{}, false
				return OfEvidence(e)
			}, (*Evidence).Evidence, full)
			requireRoundTrip(t, OfReceipt, func(w *Receipt) content.EraseReceipt { return w.Receipt() }, full)
			requireRoundTrip(t, wholeSeconds, func(w *Temporal) facts.TemporalResult { return *w.Result() }, full)
			requireRoundTrip(t, func(l *[]content.PastVersion) []Version { return OfVersions(*l) }, func(w *[]Version) []content.PastVersion { return Versions(*w) }, full)
		})
	}
}

// wholeSeconds returns the wire form of a temporal result, with times cut to whole seconds.
func wholeSeconds(t *facts.TemporalResult) Temporal {
	if d := t.Duration; d != nil {
		d.From.Start, d.From.End = d.From.Start.Truncate(time.Second), d.From.End.Truncate(time.Second)
		d.To.Start, d.To.End = d.To.Start.Truncate(time.Second), d.To.End.Truncate(time.Second)
	}
	for i := range t.Facts {
		f := &t.Facts[i]
		f.Start, f.End = f.Start.Truncate(time.Second), f.End.Truncate(time.Second)
	}
	return *OfTemporal(t, 3)
}

// TestNoTemporalResult checks that an answer without a temporal filter has no temporal result.
func TestNoTemporalResult(t *testing.T) {
	t.Parallel()
	assert.Nil(t, (&Temporal{Facts: []DatedFact{}}).Result())
}

// TestItemsRoundTrip checks that sources and memories are read back with all fields that lists show.
func TestItemsRoundTrip(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 6, 7, 8, 9, 1000, time.UTC)
	source := content.SourceInfo{ID: "a", Sub: "s", Class: content.ClassKnowledge, Title: "title", Kind: "kind", Description: "description", Note: "note", URL: "https://example.org",
		Timestamp: at, CreatedAt: at.Add(time.Hour), UpdatedAt: at.Add(2 * time.Hour), Status: content.StatusCompleted, Partial: "pages", Metadata: map[string]any{"k": "v"}, Additional: map[string]any{},
		ForcefulRelations: &content.ForcefulRelations{IDs: []string{"b"}, Properties: map[string]any{"p": "q"}, Links: []content.Link{
			{Predicate: "linked_to", TargetID: "b", Properties: map[string]any{}}, {Predicate: "blocks", Provider: "jira", ExternalID: "7", Properties: map[string]any{"x": "y"}}}},
		App: &content.AppInfo{Kind: "message", Provider: "slack", ExternalID: "1", ParentID: "2", Attachments: []map[string]any{{"name": "x"}}}}
	bare := content.SourceInfo{ID: "b", Class: content.ClassKnowledge, Metadata: map[string]any{}, Additional: map[string]any{}}
	memory := content.SourceInfo{ID: "m", Sub: "s", Class: content.ClassMemory, Title: "title", CreatedAt: at, UpdatedAt: at, Metadata: map[string]any{"k": "v"}, Additional: map[string]any{}, Content: "text", Inferred: "line"}
	for _, want := range []content.SourceInfo{source, bare} {
		t.Run(want.ID, func(t *testing.T) {
			t.Parallel()
			there := reread(t, OfSource("db", &want))
			assert.Equal(t, want, there.Source(content.ClassKnowledge))
			assert.Equal(t, []string{"db", "db"}, []string{there.Database, there.TenantID})
		})
	}
	row := OfMemory("db", &memory)
	assert.Equal(t, memory, reread(t, &row).Memory())
	undated := OfSource("db", &content.SourceInfo{CreatedAt: at})
	assert.Equal(t, Time(at), undated.Timestamp, "the time of its arrival stands for its own")
}

// reread returns a value that was written and read back.
func reread[W any](t *testing.T, w *W) *W {
	t.Helper()
	b, err := json.Marshal(w)
	require.NoError(t, err)
	out := new(W)
	require.NoError(t, json.Unmarshal(b, out))
	return out
}

// TestScore checks that a score is written with the digits of 32 bits, and read as written.
func TestScore(t *testing.T) {
	t.Parallel()
	s := Score(float32(.9))
	b, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Equal(t, "0.9", string(b))
	require.NoError(t, json.Unmarshal(b, &s))
	assert.InDelta(t, .9, float64(s), 0)
}

func TestPageWithoutCursor(t *testing.T) {
	t.Parallel()
	_, err := (&FactsPage{Next: "x"}).Page()
	require.Error(t, err)
}
