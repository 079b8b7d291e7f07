package memory_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// casaEmbedder is an embedder that recognises a home by the word casa.
type casaEmbedder struct{ slow bool }

func (casaEmbedder) Model() string { return "houses" }
func (casaEmbedder) Dim() int      { return 2 }
func (h casaEmbedder) Slow() bool  { return h.slow }

func (casaEmbedder) StatementSlots() []embed.StatementSlot {
	return []embed.StatementSlot{{Name: "moon", Vector: []float32{9, 9}, Bias: 9}, {Name: "home", Vector: []float32{0, 6}, Bias: -3}}
}

func (casaEmbedder) EmbedQuery(context.Context, string) ([]float32, error) {
	return []float32{1, 0}, nil
}

func (casaEmbedder) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = []float32{1, 0}
		if strings.Contains(t, "casa") {
			out[i] = []float32{0, 1}
		}
	}
	return out, nil
}

// TestProfileStatements checks statements that rules do not read: they are shown with their speaker, until a later one
// supersedes them, to those who may see them.
func TestProfileStatements(t *testing.T) {
	for name, e := range map[string]casaEmbedder{"at once": {}, "refined": {slow: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			svc, err := contextmem.New(ctx, inmem.New(), &contextmem.Options{Embedder: e})
			require.NoError(t, err)
			defer svc.Close()
			_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "t"})
			require.NoError(t, err)
			sub := svc.Tenant("t").Sub("")
			_, err = sub.Remember(ctx,
				contextmem.Memory{ID: "old", Text: "zorbla casa in Lisboa", UserName: "Anna", Time: servicetest.OnDay("2024-01-01")},
				contextmem.Memory{ID: "new", Text: "zorblu nova casa in Porto", UserName: "Anna", Time: servicetest.OnDay("2024-06-01")},
				contextmem.Memory{ID: "other", Text: "zorbli casa in Faro", UserName: "Boris", Time: servicetest.OnDay("2024-06-02")},
				contextmem.Memory{ID: "none", Text: "zorble pão", UserName: "Anna", Time: servicetest.OnDay("2024-06-03")},
				contextmem.Memory{ID: "said", Messages: []contextmem.Message{{Role: "assistant", Text: "that casa is nice"}}, UserName: "Anna", Time: servicetest.OnDay("2024-06-04")})
			require.NoError(t, err)
			require.NoError(t, sub.WaitRefined(ctx))
			told := func(r facts.ProfileRequest) (ids []string, p *facts.Profile) {
				r.Subject = "Anna"
				p, err := sub.Profile(ctx, r)
				require.NoError(t, err)
				for _, s := range p.Slots {
					require.Equal(t, "home", s.Slot)
					for _, x := range s.Statements {
						ids = append(ids, x.SourceID)
					}
				}
				return ids, p
			}
			ids, p := told(facts.ProfileRequest{})
			require.Equal(t, []string{"new", "old"}, ids, "the newest first")
			x := p.Slots[0].Statements[0]
			assert.Equal(t, "zorblu nova casa in Porto", x.Text)
			assert.InDelta(t, .9526, x.Confidence, 1e-4)
			assert.True(t, x.Learnt.Equal(servicetest.OnDay("2024-06-01")))
			assert.NotEmpty(t, x.ChunkID)
			assert.Contains(t, p.Summary, "Porto")
			ids, p = told(facts.ProfileRequest{PerSlot: 1})
			assert.Equal(t, []string{"new"}, ids)
			assert.True(t, p.Truncated)
			ids, _ = told(facts.ProfileRequest{Slots: []string{"diet"}})
			assert.Empty(t, ids)
			ids, _ = told(facts.ProfileRequest{AsOf: servicetest.OnDay("2024-02-01")})
			assert.Equal(t, []string{"old"}, ids)

			require.NoError(t, sub.Supersede(ctx, "old", "new", "moved"))
			ids, _ = told(facts.ProfileRequest{})
			assert.Equal(t, []string{"new"}, ids)
			ids, _ = told(facts.ProfileRequest{AsOf: servicetest.OnDay("2024-02-01")})
			assert.Equal(t, []string{"old"}, ids, "it held then")
			_, err = sub.EditMetadata(ctx, contextmem.EditMetadataRequest{Class: contextmem.ClassMemory, ID: "new", ACL: &[]string{"boss"}})
			require.NoError(t, err)
			ids, _ = told(facts.ProfileRequest{Principals: []string{"guest"}})
			assert.Equal(t, []string{"old"}, ids, "what is hidden replaces nothing")
			_, err = sub.Restore(ctx, "old")
			require.NoError(t, err)
			ids, _ = told(facts.ProfileRequest{})
			assert.Equal(t, []string{"new", "old"}, ids)
		})
	}
}

// TestProfileLeavesOutWhatIsProbablyReplaced checks messages of one slot, of which one replaces another too uncertainly to be shown as superseding.
func TestProfileLeavesOutWhatIsProbablyReplaced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		probability float64
		later       string
		want        []string
	}{
		{"probably", .6, "zorblu nova casa in Porto", []string{"new"}},
		{"perhaps", .4, "zorblu nova casa in Porto", []string{"new", "old"}},
		{"by what tells of another slot", .6, "zorblu nova in Porto", []string{"old"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			j := fixedJudge{replaces: map[[2]string]float64{{"Lisboa", "Porto"}: c.probability}}
			svc, err := contextmem.New(ctx, inmem.New(), &contextmem.Options{Embedder: casaEmbedder{}, Judge: j})
			require.NoError(t, err)
			defer svc.Close()
			_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "t"})
			require.NoError(t, err)
			sub := svc.Tenant("t").Sub("")
			servicetest.Remember(t, sub, contextmem.Memory{ID: "old", Text: "zorbla casa in Lisboa", UserName: "Anna", Time: servicetest.OnDay("2024-01-01")})
			servicetest.Remember(t, sub, contextmem.Memory{ID: "new", Text: c.later, UserName: "Anna", Time: servicetest.OnDay("2024-06-01")})
			require.NoError(t, sub.WaitRefined(ctx))
			p, err := sub.Profile(ctx, facts.ProfileRequest{Subject: "Anna"})
			require.NoError(t, err)
			require.Len(t, p.Slots, 1)
			var ids []string
			for _, x := range p.Slots[0].Statements {
				ids = append(ids, x.SourceID)
			}
			assert.Equal(t, c.want, ids)
		})
	}
}

// TestFactsStatements checks that facts of a slot include statements that rules do not read.
func TestFactsStatements(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	svc, err := contextmem.New(ctx, inmem.New(), &contextmem.Options{Embedder: casaEmbedder{}})
	require.NoError(t, err)
	defer svc.Close()
	_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "t"})
	require.NoError(t, err)
	sub := svc.Tenant("t").Sub("")
	_, err = sub.Remember(ctx,
		contextmem.Memory{ID: "old", Text: "zorbla casa in Lisboa", UserName: "Anna", Time: servicetest.OnDay("2024-01-01")},
		contextmem.Memory{ID: "fact", Text: "I live in Oslo, in a casa.", UserName: "Anna", Infer: true, Time: servicetest.OnDay("2024-02-01")},
		contextmem.Memory{ID: "new", Text: "zorblu nova casa in Porto", UserName: "Anna", Time: servicetest.OnDay("2024-06-01")},
		contextmem.Memory{ID: "other", Text: "zorbli casa in Faro", UserName: "Boris", Time: servicetest.OnDay("2024-06-02")})
	require.NoError(t, err)
	told := func(r facts.Request) (ids []string, p *facts.Page) {
		t.Helper()
		p, err := sub.Facts(ctx, r)
		require.NoError(t, err)
		for _, x := range p.Statements {
			ids = append(ids, x.SourceID)
		}
		return ids, p
	}
	ids, p := told(facts.Request{Subject: "Anna", Slot: "home"})
	assert.Equal(t, []string{"new", "old"}, ids, "not the message that the fact is of")
	require.NotEmpty(t, p.Facts)
	assert.Equal(t, "fact", p.Facts[0].SourceID)
	assert.Equal(t, "zorblu nova casa in Porto", p.Statements[0].Text)
	ids, p = told(facts.Request{Subject: "Boris", Question: "Where does Boris live?"})
	assert.Equal(t, []string{"other"}, ids, "of somebody of whom no fact is known")
	assert.Empty(t, p.Facts)
	ids, _ = told(facts.Request{Subject: "Anna", Slot: "home", Limit: 1})
	assert.Equal(t, []string{"new"}, ids)
	ids, _ = told(facts.Request{Subject: "Anna", Slot: "home", AsOf: servicetest.OnDay("2024-02-02")})
	assert.Equal(t, []string{"old"}, ids)
	for name, r := range map[string]facts.Request{"no slot": {Subject: "Anna"}, "no subject": {Slot: "home"}, "other slot": {Subject: "Anna", Slot: "diet"}, "predicate": {Subject: "Anna", Slot: "home", Predicate: "lives_in"},
		"history": {Subject: "Anna", Slot: "home", History: true}, "upcoming": {Subject: "Anna", Slot: "home", Upcoming: true}, "later page": {Subject: "Anna", Slot: "home", Cursor: p.Next + 1},
		"known then": {Subject: "Anna", Slot: "home", KnownAt: servicetest.OnDay("2030-01-01")}} {
		ids, _ := told(r)
		assert.Empty(t, ids, name)
	}
	require.NoError(t, sub.Supersede(ctx, "old", "new", "moved"))
	ids, _ = told(facts.Request{Subject: "Anna", Slot: "home"})
	assert.Equal(t, []string{"new"}, ids)
}
