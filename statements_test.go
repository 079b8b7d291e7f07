package contextmem_test

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
)

// houses is an embedder that knows a home by the word casa.
type houses struct{ slow bool }

func (houses) Model() string { return "houses" }
func (houses) Dim() int      { return 2 }
func (h houses) Slow() bool  { return h.slow }

func (houses) StatementSlots() []embed.StatementSlot {
	return []embed.StatementSlot{{Name: "moon", Vector: []float32{9, 9}, Bias: 9}, {Name: "home", Vector: []float32{0, 6}, Bias: -3}}
}

func (houses) EmbedQuery(context.Context, string) ([]float32, error) { return []float32{1, 0}, nil }

func (houses) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = []float32{1, 0}
		if strings.Contains(t, "casa") {
			out[i] = []float32{0, 1}
		}
	}
	return out, nil
}

// TestProfileStatements asks for what rules do not read: who told it, until what took its place, for those who may see it.
func TestProfileStatements(t *testing.T) {
	for name, e := range map[string]houses{"at once": {}, "refined": {slow: true}} {
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
				contextmem.Memory{ID: "old", Text: "zorbla casa in Lisboa", UserName: "Anna", Time: on("2024-01-01")},
				contextmem.Memory{ID: "new", Text: "zorblu nova casa in Porto", UserName: "Anna", Time: on("2024-06-01")},
				contextmem.Memory{ID: "other", Text: "zorbli casa in Faro", UserName: "Boris", Time: on("2024-06-02")},
				contextmem.Memory{ID: "none", Text: "zorble pão", UserName: "Anna", Time: on("2024-06-03")},
				contextmem.Memory{ID: "said", Messages: []contextmem.Message{{Role: "assistant", Text: "that casa is nice"}}, UserName: "Anna", Time: on("2024-06-04")})
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
			assert.True(t, x.Learnt.Equal(on("2024-06-01")))
			assert.NotEmpty(t, x.ChunkID)
			assert.Contains(t, p.Summary, "Porto")
			ids, p = told(facts.ProfileRequest{PerSlot: 1})
			assert.Equal(t, []string{"new"}, ids)
			assert.True(t, p.Truncated)
			ids, _ = told(facts.ProfileRequest{Slots: []string{"diet"}})
			assert.Empty(t, ids)
			ids, _ = told(facts.ProfileRequest{AsOf: on("2024-02-01")})
			assert.Equal(t, []string{"old"}, ids)

			require.NoError(t, sub.Supersede(ctx, "old", "new", "moved"))
			ids, _ = told(facts.ProfileRequest{})
			assert.Equal(t, []string{"new"}, ids)
			ids, _ = told(facts.ProfileRequest{AsOf: on("2024-02-01")})
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
