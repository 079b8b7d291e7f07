package contextmem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestCallsOfNewcomers: what a first program gets wrong is an error that names what it wrote.
func TestCallsOfNewcomers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, err := contextmem.New(ctx, nil, nil)
	require.EqualError(t, err, "contextmem: open: the backend is nil")
	require.ErrorIs(t, err, contextmem.ErrInvalid)
	var none *contextmem.Service
	require.ErrorIs(t, none.Close(), contextmem.ErrInvalid, "what Open returned beside an error")
	svc, err := contextmem.New(ctx, inmem.New(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("alice")
	require.NoError(t, contextmem.Settled(ctx, s, nil), "nothing was added")

	create := func(spec contextmem.TenantSpec) error { _, err := svc.CreateTenant(ctx, spec); return err }
	key := func(spec contextmem.KeySpec) error { _, _, err := svc.CreateKey(ctx, spec); return err }
	add := func(m contextmem.Memory) error {
		_, err := s.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{m}})
		return err
	}
	_, backup := svc.Backup(ctx, t.TempDir())
	_, subgraph := s.Subgraph(ctx, contextmem.SubgraphRequest{})
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"no id":     {create(contextmem.TenantSpec{}), `contextmem: create tenant: field "ID": is required`},
		"wrong id":  {create(contextmem.TenantSpec{ID: "a b"}), `contextmem: create tenant "a b": field "ID": must be 1 to 128 letters, digits, '.', '_' or '-', starting with a letter or digit`},
		"key":       {key(contextmem.KeySpec{Tenants: []string{"acme", "a b"}}), `contextmem: create key "a b": field "Tenants[1]": must be 1 to 128 letters, digits, '.', '_' or '-', starting with a letter or digit`},
		"no text":   {add(contextmem.Memory{}), `contextmem: add memories: field "Memories[0].Text": text, messages or pairs (over REST user_assistant_pairs) is required`},
		"no backup": {backup, `contextmem: backup: the backend cannot be copied: unsupported operation`},
		"no source": {subgraph, `contextmem: subgraph: field "SourceID": is required`},
	} {
		t.Run(name, func(t *testing.T) { require.EqualError(t, c.err, c.want) })
	}
}

// TestListNamesTheOtherClass: a list is of knowledge unless it is told otherwise. Where only memories match, it says so.
func TestListNamesTheOtherClass(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("alice")
	servicetest.Remember(t, s, contextmem.Memory{ID: "m1", Text: "Alice takes her coffee black."}, contextmem.Memory{ID: "m2", Text: "Alice lives in Lisbon.", Metadata: map[string]any{"k": "v"}})
	hint := []content.Warning{{Code: "hint", Field: "Class", Message: "no knowledge is listed, which is the default; memories that match: 2"}}
	for name, c := range map[string]struct {
		r    contextmem.ListRequest
		want []content.Warning
	}{
		"no class":       {contextmem.ListRequest{}, hint},
		"page beyond":    {contextmem.ListRequest{Page: 3}, hint},
		"knowledge":      {contextmem.ListRequest{Class: contextmem.ClassKnowledge}, nil},
		"memories":       {contextmem.ListRequest{Class: contextmem.ClassMemory}, nil},
		"nothing at all": {contextmem.ListRequest{IDs: []string{"nothing"}}, nil},
		"hidden":         {contextmem.ListRequest{Fields: contextmem.SourceFilter{Title: "nothing"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := s.List(t.Context(), c.r)
			require.NoError(t, err)
			require.Equal(t, c.want, p.Warnings)
		})
	}
	_, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "f", Name: "a.txt", Data: []byte("text")}}})
	require.NoError(t, err)
	p, err := s.List(t.Context(), contextmem.ListRequest{})
	require.NoError(t, err)
	require.Empty(t, p.Warnings)
}
