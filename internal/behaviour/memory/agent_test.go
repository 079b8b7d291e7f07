package memory_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestRememberWaits(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	st, err := acme.Sub("anna").Remember(t.Context(), contextmem.Memory{ID: "a", Text: "I sail."}, contextmem.Memory{ID: "b", Text: "I ski."})
	require.NoError(t, err)
	require.Len(t, st, 2)
	for i, id := range []string{"a", "b"} {
		t.Run(id, func(t *testing.T) {
			assert.Equal(t, id, st[i].ID)
			assert.Equal(t, contextmem.StatusCompleted, st[i].Status)
		})
	}
	_, err = acme.Remember(t.Context(), contextmem.Memory{})
	require.ErrorIs(t, err, fault.ErrUnprocessed)
}

func TestEnsureTenant(t *testing.T) {
	t.Parallel()
	svc, _ := servicetest.Open(t, nil)
	ctx := t.Context()
	spec := contextmem.TenantSpec{ID: "again", Schema: []contextmem.Field{{Name: "team", Match: true}}}
	for range 2 {
		info, err := svc.EnsureTenant(ctx, spec)
		require.NoError(t, err)
		assert.True(t, info.Ready())
		assert.Len(t, info.Schema, 1)
	}
	spec.Schema = append(spec.Schema, contextmem.Field{Name: "year", Type: "integer"})
	for range 2 {
		info, err := svc.EnsureTenant(ctx, spec)
		require.NoError(t, err)
		assert.Len(t, info.Schema, 2, "a field that is missing is added")
	}
	for name, other := range map[string]contextmem.TenantSpec{
		"a field of another type": {ID: "again", Schema: []contextmem.Field{{Name: "Year", Type: "string"}}},
		"another kind":            {ID: "again", Embeddings: true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := svc.EnsureTenant(ctx, other)
			require.ErrorIs(t, err, fault.ErrConflict, name)
		})
	}
	_, err := svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "no such/id"})
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestEmbedderFunc(t *testing.T) {
	t.Parallel()
	var asked []bool
	e := contextmem.EmbedderFunc{Name: "letters/1", Length: 26, Embed: func(_ context.Context, texts []string, query bool) ([][]float32, error) {
		asked = append(asked, query)
		out := make([][]float32, len(texts))
		for i, text := range texts {
			out[i] = make([]float32, 26)
			for _, r := range strings.ToLower(text) {
				if r >= 'a' && r <= 'z' {
					out[i][r-'a']++
				}
			}
		}
		return out, nil
	}}
	_, acme := servicetest.Open(t, &contextmem.Options{Embedder: e, Workers: 1})
	_, err := acme.Remember(t.Context(), contextmem.Memory{ID: "a", Text: "zzz"})
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, servicetest.RecallIDs(t, acme.Sub(""), contextmem.Recall{Query: "zz"}))
	assert.Contains(t, asked, true)
	assert.Contains(t, asked, false)
	two := contextmem.EmbedderFunc{Name: "two", Length: 1, Embed: func(context.Context, []string, bool) ([][]float32, error) { return make([][]float32, 2), nil }}
	_, err = two.EmbedQuery(t.Context(), "x")
	require.Error(t, err)
}

func TestSessionsInOrder(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	anna, ctx := acme.Sub("anna"), t.Context()
	day := time.Date(2024, 3, 2, 9, 0, 0, 0, time.UTC)
	_, err := anna.Remember(ctx,
		contextmem.Memory{ID: "later", Session: "one", Time: day.Add(time.Hour), Text: "And I ski.", UserName: "Anna"},
		contextmem.Memory{ID: "talk", Session: "one", Time: day, Messages: []contextmem.Message{{Role: content.RoleUser, Text: "I sail.", Time: day.Add(-time.Minute)}, {Role: content.RoleAssistant, Text: "Where?"}}},
		contextmem.Memory{ID: "other", Session: "two", Time: day, Pairs: []contextmem.Pair{{User: "Hello.", Assistant: "Hi."}}},
		contextmem.Memory{ID: "none", Text: "Of no session."})
	require.NoError(t, err)
	p, err := anna.Sessions(ctx, content.SessionsRequest{Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, []content.Session{{Name: "one", Memories: 2, First: day, Last: day.Add(time.Hour)}}, p.Sessions)
	p, err = anna.Sessions(ctx, content.SessionsRequest{Cursor: p.Next, Limit: 10})
	require.NoError(t, err)
	assert.Equal(t, "two", p.Sessions[0].Name)
	assert.Empty(t, p.Next)
	for _, limit := range []int{1, 2, 3, 10} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			var got []string
			for cursor := ""; ; {
				m, err := anna.SessionMessages(ctx, content.SessionMessagesRequest{Session: "one", Cursor: cursor, Limit: limit})
				require.NoError(t, err)
				require.LessOrEqual(t, len(m.Messages), limit)
				for _, x := range m.Messages {
					got = append(got, fmt.Sprintf("%s#%d %s %s: %s", x.MemoryID, x.Index, x.Role, x.Name, x.Text))
				}
				if cursor = m.Next; cursor == "" {
					break
				}
			}
			assert.Equal(t, []string{"talk#0 user User: I sail.", "talk#1 assistant : Where?", "later#0 user Anna: And I ski."}, got, limit)
		})
	}
	m, err := anna.SessionMessages(ctx, content.SessionMessagesRequest{Session: "two"})
	require.NoError(t, err)
	assert.Equal(t, []content.Role{content.RoleUser, content.RoleAssistant}, []content.Role{m.Messages[0].Role, m.Messages[1].Role}, "pairs too")
	for _, bad := range []string{"x", "true.1.0.0", "true.1.1.-1"} {
		t.Run(bad, func(t *testing.T) {
			_, err = anna.SessionMessages(ctx, content.SessionMessagesRequest{Session: "one", Cursor: bad})
			require.ErrorIs(t, err, fault.ErrInvalid)
		})
	}
	_, err = anna.SessionMessages(ctx, content.SessionMessagesRequest{})
	require.ErrorIs(t, err, fault.ErrInvalid)
	_, err = anna.Sessions(ctx, content.SessionsRequest{Limit: 1001})
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestUpdateMemoryKeepsTheRest(t *testing.T) {
	t.Parallel()
	svc, acme := servicetest.Open(t, nil)
	ctx := t.Context()
	day := time.Date(2024, 3, 2, 9, 0, 0, 0, time.UTC)
	_, err := acme.Remember(ctx, contextmem.Memory{ID: "a", Title: "Sport", Text: "I sail.", Session: "s", Time: day, Infer: true, TTL: time.Hour,
		Metadata: map[string]any{"x": "1", "y": "2"}, Additional: map[string]any{"k": "v"}, ForcefulRelations: &contextmem.ForcefulRelations{IDs: []string{"b"}}})
	require.NoError(t, err)
	text := "I ski in Norway."
	it, err := acme.UpdateMemory(ctx, "a", content.MemoryEdit{Text: &text, Metadata: map[string]any{"y": nil, "z": "3"}})
	require.NoError(t, err)
	assert.Equal(t, "a", it.ID)
	require.NoError(t, svc.Drain(ctx))
	p, err := acme.List(ctx, contextmem.ListRequest{Class: contextmem.ClassMemory})
	require.NoError(t, err)
	require.Len(t, p.Sources, 1)
	got := p.Sources[0]
	assert.Equal(t, text, got.Content)
	assert.Equal(t, []any{"Sport", day, map[string]any{"x": "1", "z": "3"}, map[string]any{"k": "v"}, []string{"b"}, true},
		[]any{got.Title, got.Timestamp, got.Metadata, got.Additional, got.ForcefulRelations.IDs, got.Infer})
	assert.False(t, got.ExpiresAt.IsZero())
	m, err := acme.SessionMessages(ctx, content.SessionMessagesRequest{Session: "s"})
	require.NoError(t, err)
	assert.Equal(t, text, m.Messages[0].Text)
	assert.Contains(t, servicetest.RecallIDs(t, acme.Sub(""), contextmem.Recall{Query: "ski", Filters: contextmem.Filters{Additional: map[string]any{"k": "v"}}}), "a")

	title, never := "Winter", time.Duration(0)
	_, err = acme.UpdateMemory(ctx, "a", content.MemoryEdit{Title: &title, TTL: &never, Messages: []contextmem.Message{{Role: content.RoleUser, Text: "I skate."}, {Role: content.RoleAssistant, Text: "I see."}}})
	require.NoError(t, err)
	require.NoError(t, svc.Drain(ctx))
	f, err := acme.Fetch(ctx, contextmem.FetchRequest{ID: "a"})
	require.NoError(t, err)
	assert.Equal(t, "user: I skate.\nassistant: I see.", f.Text)
	assert.Equal(t, title, f.Title)
	p, err = acme.List(ctx, contextmem.ListRequest{Class: contextmem.ClassMemory})
	require.NoError(t, err)
	assert.Zero(t, p.Sources[0].ExpiresAt)

	_, err = acme.UpdateMemory(ctx, "nobody", content.MemoryEdit{Text: &text})
	require.ErrorIs(t, err, fault.ErrNotFound)
	blank := " "
	for field, e := range map[string]content.MemoryEdit{"Text": {Text: &blank}, "Messages": {Text: &text, Messages: []contextmem.Message{}}, "Messages[0].Role": {Messages: []contextmem.Message{{Text: "x"}}}} {
		t.Run(field, func(t *testing.T) {
			_, err = acme.UpdateMemory(ctx, "a", e)
			var fe *fault.Error
			require.ErrorAs(t, err, &fe)
			assert.Equal(t, field, fe.Field)
		})
	}
}

func TestDeleteMatching(t *testing.T) {
	t.Parallel()
	svc, _ := servicetest.Open(t, nil)
	acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "filtered", Schema: []contextmem.Field{{Name: "team", Match: true}}})
	ctx := t.Context()
	_, err := acme.Remember(ctx, contextmem.Memory{ID: "a", Text: "One.", Session: "s", Metadata: map[string]any{"team": "x"}}, contextmem.Memory{ID: "b", Text: "Two.", Session: "s"},
		contextmem.Memory{ID: "c", Text: "Three.", Metadata: map[string]any{"team": "x"}}, contextmem.Memory{ID: "d", Text: "Four.", Additional: map[string]any{"k": "v"}})
	require.NoError(t, err)
	left := func() (ids []string) {
		for x, err := range acme.Sources(ctx, contextmem.ListRequest{Class: contextmem.ClassMemory}) {
			require.NoError(t, err)
			ids = append(ids, x.ID)
		}
		return ids
	}
	x := contextmem.Filters{Metadata: map[string]any{"team": "x"}}
	for _, bad := range []content.Matching{{}, {Filters: contextmem.Filters{Metadata: map[string]any{"unknown": "x"}}}, {Class: 7, Session: "s"}} {
		t.Run(bad.Session, func(t *testing.T) {
			_, err := acme.DeleteMatching(ctx, bad)
			require.ErrorIs(t, err, fault.ErrInvalid)
		})
	}
	require.Len(t, left(), 4)
	for _, step := range []struct {
		r    content.Matching
		n    int
		left []string
	}{
		{content.Matching{Filters: x, Session: "s"}, 1, []string{"b", "c", "d"}},
		{content.Matching{Filters: x}, 1, []string{"b", "d"}},
		{content.Matching{Session: "none"}, 0, []string{"b", "d"}},
		{content.Matching{Session: "s", Class: contextmem.ClassMemory}, 1, []string{"d"}},
		{content.Matching{Filters: contextmem.Filters{Additional: map[string]any{"k": "v"}}}, 1, nil},
	} {
		n, err := acme.DeleteMatching(ctx, step.r)
		require.NoError(t, err)
		assert.Equal(t, step.n, n)
		assert.ElementsMatch(t, step.left, left())
	}
}

func TestContextBlockMarksSupersededChunks(t *testing.T) {
	t.Parallel()
	day := time.Date(2024, 3, 2, 9, 0, 0, 0, time.UTC)
	by := &contextmem.Supersession{ID: "b"}
	r := contextmem.Result{Chunks: []contextmem.Chunk{{SourceID: "b", Text: "I moved to Lisbon.", Time: day}, {SourceID: "a", Text: "I live in Oslo.", SupersededBy: by, ValidTo: day},
		{SourceID: "c", Text: "I have a cat.", SupersededBy: by, ValidTo: day, Retracted: true}}}
	b := r.ContextBlock(200)
	assert.Equal(t, "[1] 2024-03-02\nI moved to Lisbon.\n[2] (superseded 2024-03-02 by b)\nI live in Oslo.\n[3] (taken back 2024-03-02 by b)\nI have a cat.\n", b.Text)
	assert.Equal(t, []string{"b", "a", "c"}, b.Sources)
}

// TestInstructionsFollowChanges checks that the cached instructions follow each change and each expiry.
func TestInstructionsFollowChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		svc, err := contextmem.New(t.Context(), inmem.New(), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		anna, ctx := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("anna"), t.Context()
		orders := func() (out []string) {
			for range 2 { // asked and remembered
				res, err := anna.Recall(ctx, contextmem.Recall{Query: "what now?", Class: contextmem.ClassMemory})
				require.NoError(t, err)
				out = nil
				for _, x := range res.Instructions {
					out = append(out, x.SourceID)
				}
			}
			return out
		}
		say := func(id, text string, ttl time.Duration) {
			_, err := anna.Remember(ctx, contextmem.Memory{ID: id, Text: text, Infer: true, TTL: ttl})
			require.NoError(t, err)
		}
		assert.Empty(t, orders())
		say("a", "Always answer in French.", 0)
		assert.Equal(t, []string{"a"}, orders())
		time.Sleep(time.Minute)
		say("b", "Always answer in German.", time.Hour)
		assert.Equal(t, []string{"b"}, orders())
		time.Sleep(time.Hour + time.Second)
		assert.Equal(t, []string{"a"}, orders(), "the later one is over")
		_, err = anna.DeleteItems(ctx, contextmem.DeleteItemsRequest{IDs: []string{"a"}})
		require.NoError(t, err)
		assert.Empty(t, orders())
	})
}

// rememberStatements adds statements by Anna, a day apart.
func rememberStatements(t *testing.T, s contextmem.Sub, texts ...string) {
	t.Helper()
	day := time.Date(2024, 3, 1, 9, 0, 0, 0, time.UTC)
	for i, text := range texts {
		_, err := s.Remember(t.Context(), contextmem.Memory{ID: fmt.Sprint("m", i), Text: text, Infer: true, UserName: "Anna", Time: day.AddDate(0, 0, i)})
		require.NoError(t, err)
	}
}

func TestFactsOfASubject(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	anna, ctx := acme.Sub("anna"), t.Context()
	rememberStatements(t, anna, "I live in Oslo.", "I'm allergic to nuts.", "I moved to Lisbon.", "I have a dog named Rex.", "My brother Boris lives in Rome.")
	ask := func(r facts.Request) (out []string) {
		p, err := anna.Facts(ctx, r)
		require.NoError(t, err)
		for _, f := range p.Facts {
			require.NotEmpty(t, f.Evidence)
			require.NotEmpty(t, f.SourceID)
			out = append(out, fmt.Sprintf("%s %s %s %s", f.Subject, f.Predicate, strings.ToLower(f.Object), f.Status))
		}
		return out
	}
	assert.Equal(t, []string{"anna lives_in lisbon current"}, ask(facts.Request{Subject: "ANNA", Predicate: "lives_in"}))
	assert.Equal(t, []string{"anna lives_in oslo superseded", "anna lives_in lisbon current"}, ask(facts.Request{Subject: "Anna", Slot: "home", History: true}))
	assert.Equal(t, []string{"anna lives_in oslo current"}, ask(facts.Request{Subject: "Anna", Slot: "home", AsOf: time.Date(2024, 3, 2, 0, 0, 0, 0, time.UTC)}))
	assert.Equal(t, []string{"anna allergic_to nuts current"}, ask(facts.Request{Subject: "Anna", Question: "Am I allergic to anything?"}))
	assert.Equal(t, []string{"anna lives_in lisbon current", "boris lives_in rome current"}, ask(facts.Request{Predicate: "lives_in"}), "of anybody")
	assert.Empty(t, ask(facts.Request{Subject: "Nobody"}))
	all := ask(facts.Request{})
	var paged []string
	for r := (facts.Request{Limit: 1}); ; {
		p, err := anna.Facts(ctx, r)
		require.NoError(t, err)
		require.LessOrEqual(t, len(p.Facts), 1)
		for _, f := range p.Facts {
			paged = append(paged, fmt.Sprintf("%s %s %s %s", f.Subject, f.Predicate, strings.ToLower(f.Object), f.Status))
		}
		if r.Cursor = p.Next; r.Cursor == 0 {
			break
		}
	}
	assert.Equal(t, all, paged)
	p, err := anna.Facts(ctx, facts.Request{Subject: "Anna", Slot: "home", History: true})
	require.NoError(t, err)
	assert.Equal(t, p.Facts[1].ID, p.Facts[0].SupersededBy)
	for _, bad := range []facts.Request{{Slot: "zorble"}, {Limit: -1}, {Limit: 1001}, {Cursor: -1}, {Upcoming: true, History: true}, {Class: 7}, {Subject: "?!"}} {
		t.Run(bad.Subject, func(t *testing.T) {
			_, err := anna.Facts(ctx, bad)
			require.ErrorIs(t, err, fault.ErrInvalid, "%+v", bad)
		})
	}
}

func TestUpcomingFacts(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	rememberStatements(t, acme.Sub("anna"), "I'm visiting Rome in December 2024.", "I'm going to visit Porto in June 2024.", "I visited Oslo in 2019.")
	r := facts.Request{Subject: "Anna", Upcoming: true, AsOf: time.Date(2024, 4, 1, 0, 0, 0, 0, time.UTC)}
	p, err := acme.Sub("anna").Facts(t.Context(), r)
	require.NoError(t, err)
	require.Len(t, p.Facts, 2)
	assert.Contains(t, strings.ToLower(p.Facts[0].Evidence), "porto")
	assert.Contains(t, strings.ToLower(p.Facts[1].Evidence), "rome")
	assert.Equal(t, facts.Upcoming, p.Facts[0].Status)
	r.Limit = 1
	p, err = acme.Sub("anna").Facts(t.Context(), r)
	require.NoError(t, err)
	r.Cursor = p.Next
	p, err = acme.Sub("anna").Facts(t.Context(), r)
	require.NoError(t, err)
	assert.Contains(t, strings.ToLower(p.Facts[0].Evidence), "rome")
	assert.Zero(t, p.Next)
}

func TestEntitiesByPages(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	anna, ctx := acme.Sub("anna"), t.Context()
	rememberStatements(t, anna, "I met Boris and Bella in Oslo.")
	p, err := anna.ListEntities(ctx, facts.EntityRequest{Prefix: "B", Limit: 1})
	require.NoError(t, err)
	require.Len(t, p.Entities, 1)
	assert.Equal(t, "bella", p.Entities[0].Name)
	p, err = anna.ListEntities(ctx, facts.EntityRequest{Prefix: "B", Limit: 10, Cursor: p.Next})
	require.NoError(t, err)
	assert.Equal(t, "boris", p.Entities[0].Name)
	assert.Empty(t, p.Next)
	_, err = anna.ListEntities(ctx, facts.EntityRequest{Limit: 1001})
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestInstructionsComeWithEveryRecall(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	anna := acme.Sub("anna")
	rememberStatements(t, anna, "Always answer in bullet points.", "I sail on Sundays.")
	for _, class := range []contextmem.Class{0, contextmem.ClassMemory, contextmem.ClassAll} {
		t.Run(fmt.Sprint(class), func(t *testing.T) {
			res, err := anna.Recall(t.Context(), contextmem.Recall{Query: "what sport?", Class: class})
			require.NoError(t, err)
			require.Len(t, res.Instructions, 1)
			assert.Equal(t, "Anna wants the assistant to always answer in bullet points.", res.Instructions[0].Text)
			b := res.ContextBlock(60)
			assert.True(t, strings.HasPrefix(b.Text, "Instruction: Anna wants the assistant to always answer in bullet points.\n[1] 2024-03-"), b.Text)
			assert.Contains(t, b.Text, "I sail on Sundays.")
			assert.NotContains(t, b.Text, "Anna sails on Sundays", "the inferred form says the same")
			assert.LessOrEqual(t, b.Tokens, 60)
			tiny := res.ContextBlock(5)
			assert.Empty(t, tiny.Text)
			assert.NotEmpty(t, tiny.Dropped)
		})
	}
	res, err := anna.Recall(t.Context(), contextmem.Recall{Query: "what sport?", Class: contextmem.ClassKnowledge})
	require.NoError(t, err)
	assert.Empty(t, res.Instructions)
}
