package contextmem_test

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// marker is content that must never appear in an error.
const marker = "zq7secretmarker"

// requireRefused checks the error for an invalid request: its kind, the field it names, and that it contains no
// content.
func requireRefused(t *testing.T, err, kind error, field string) {
	t.Helper()
	require.ErrorIs(t, err, kind)
	require.Contains(t, err.Error(), field)
	require.NotContains(t, err.Error(), marker)
	require.Less(t, len(err.Error()), 2000)
	var e *contextmem.Error
	require.ErrorAs(t, err, &e)
	require.Contains(t, e.Field, field)
}

const (
	badUTF8 = marker + "\xff\xfe"
	nul     = marker + "\x00"
)

func oversizedText() string { return marker + strings.Repeat("x", 1<<20) }

func TestAddMemoriesRefusesBadInput(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, &contextmem.Options{MaxMemories: 3, MaxMemoryBytes: 2 << 20})
	const text = "The kettle is on the shelf."
	deep := any("x")
	for range 200 {
		deep = []any{deep}
	}
	for name, c := range map[string]struct {
		m     contextmem.Memory
		kind  error
		field string
	}{
		"nothing":               {contextmem.Memory{}, contextmem.ErrUnprocessed, "Memories[1].Text"},
		"blank":                 {contextmem.Memory{Text: " \n\t"}, contextmem.ErrUnprocessed, "Memories[1].Text"},
		"text and pairs":        {contextmem.Memory{Text: text, Pairs: []contextmem.Pair{{User: marker}}}, contextmem.ErrUnprocessed, "Memories[1].Text"},
		"empty pair":            {contextmem.Memory{Pairs: []contextmem.Pair{{User: marker}, {}}}, contextmem.ErrUnprocessed, "Memories[1].Pairs[1]"},
		"NUL in text":           {contextmem.Memory{Text: nul}, contextmem.ErrInvalid, "Memories[1].Text"},
		"NUL in a pair":         {contextmem.Memory{Pairs: []contextmem.Pair{{User: nul}}}, contextmem.ErrInvalid, "Memories[1].Text"},
		"bytes in text":         {contextmem.Memory{Text: badUTF8}, contextmem.ErrInvalid, "Memories[1].Text"},
		"too long":              {contextmem.Memory{Text: strings.Repeat(marker, 1<<18)}, contextmem.ErrInvalid, "Memories[1].Text"},
		"long id":               {contextmem.Memory{Text: text, ID: strings.Repeat("i", 1<<20)}, contextmem.ErrInvalid, "Memories[1].ID"},
		"NUL in id":             {contextmem.Memory{Text: text, ID: "a\x00b"}, contextmem.ErrInvalid, "Memories[1].ID"},
		"bytes in id":           {contextmem.Memory{Text: text, ID: "a\xffb"}, contextmem.ErrInvalid, "Memories[1].ID"},
		"blank id":              {contextmem.Memory{Text: text, ID: "  "}, contextmem.ErrInvalid, "Memories[1].ID"},
		"negative TTL":          {contextmem.Memory{Text: text, TTL: -1}, contextmem.ErrInvalid, "Memories[1].TTL"},
		"title":                 {contextmem.Memory{Text: text, Title: nul}, contextmem.ErrInvalid, "Memories[1].Title"},
		"user name":             {contextmem.Memory{Text: text, UserName: badUTF8}, contextmem.ErrInvalid, "Memories[1].UserName"},
		"instructions":          {contextmem.Memory{Text: text, Infer: true, Instructions: oversizedText()}, contextmem.ErrInvalid, "Memories[1].Instructions"},
		"session":               {contextmem.Memory{Text: text, Session: nul}, contextmem.ErrInvalid, "Memories[1].Session"},
		"far time":              {contextmem.Memory{Text: text, Time: time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)}, contextmem.ErrInvalid, "Memories[1].Time"},
		"time before the first": {contextmem.Memory{Text: text, Time: time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)}, contextmem.ErrInvalid, "Memories[1].Time"},
		"NaN":                   {contextmem.Memory{Text: text, Metadata: map[string]any{"x": math.NaN(), "y": marker}}, contextmem.ErrInvalid, "Memories[1].Metadata"},
		"infinity":              {contextmem.Memory{Text: text, Additional: map[string]any{"x": math.Inf(1)}}, contextmem.ErrInvalid, "Memories[1].Additional"},
		"channel":               {contextmem.Memory{Text: text, Metadata: map[string]any{"x": make(chan int)}}, contextmem.ErrInvalid, "Memories[1].Metadata"},
		"NUL in a value":        {contextmem.Memory{Text: text, Metadata: map[string]any{"x": []any{nul}}}, contextmem.ErrInvalid, "Memories[1].Metadata"},
		"NUL in a key":          {contextmem.Memory{Text: text, Metadata: map[string]any{"x": map[string]any{"k\x00": 1}}}, contextmem.ErrInvalid, "Memories[1].Metadata"},
		"bytes in a value":      {contextmem.Memory{Text: text, Metadata: map[string]any{"x": badUTF8}}, contextmem.ErrInvalid, "Memories[1].Metadata"},
		"bytes in strings":      {contextmem.Memory{Text: text, Metadata: map[string]any{"x": []string{badUTF8}}}, contextmem.ErrInvalid, "Memories[1].Metadata"},
		"NUL in a struct":       {contextmem.Memory{Text: text, Metadata: map[string]any{"x": struct{ A string }{nul}}}, contextmem.ErrInvalid, "Memories[1].Metadata"},
		"deep":                  {contextmem.Memory{Text: text, Metadata: map[string]any{"x": deep}}, contextmem.ErrInvalid, "Memories[1].Metadata"},
		"large metadata":        {contextmem.Memory{Text: text, Metadata: map[string]any{"big": strings.Repeat(marker, 2000)}}, contextmem.ErrInvalid, "Memories[1].Metadata"},
		"large additional":      {contextmem.Memory{Text: text, Additional: map[string]any{"big": strings.Repeat(marker, 100)}}, contextmem.ErrInvalid, "Memories[1].Additional"},
		"related id":            {contextmem.Memory{Text: text, ForcefulRelations: &contextmem.ForcefulRelations{IDs: []string{"a\x00"}}}, contextmem.ErrInvalid, "Memories[1].ForcefulRelations.IDs"},
		"many related ids":      {contextmem.Memory{Text: text, ForcefulRelations: &contextmem.ForcefulRelations{IDs: make([]string, 1001)}}, contextmem.ErrInvalid, "Memories[1].ForcefulRelations"},
		"NaN in relations":      {contextmem.Memory{Text: text, ForcefulRelations: &contextmem.ForcefulRelations{IDs: []string{"a"}, Properties: map[string]any{"w": math.NaN()}}}, contextmem.ErrInvalid, "Memories[1].ForcefulRelations"},
	} {
		t.Run(name, func(t *testing.T) {
			s := acme.Sub(name)
			_, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "good", Text: text}, c.m, {ID: "good too", Text: text}}})
			requireRefused(t, err, c.kind, c.field)
			p, err := s.List(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory})
			require.NoError(t, err)
			require.Zero(t, p.Total, "one bad item refuses all")
		})
	}
	_, err := acme.AddMemories(t.Context(), contextmem.MemoryBatch{})
	requireRefused(t, err, contextmem.ErrUnprocessed, "Memories")
	_, err = acme.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: make([]contextmem.Memory, 4)})
	requireRefused(t, err, contextmem.ErrInvalid, "Memories")
	for _, name := range []string{"a\x00", "a\xff", strings.Repeat("s", 513)} {
		_, err = acme.Sub(name).AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: text}}})
		requireRefused(t, err, contextmem.ErrInvalid, "Sub")
	}
}

// TestTooLargeMapNamesItsKeys checks that the error lists the bytes of each key, the largest first.
func TestTooLargeMapNamesItsKeys(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	m := map[string]any{"alpha": strings.Repeat(marker, 60), "beta": strings.Repeat(marker, 10)}
	for i := range 20 {
		m[fmt.Sprintf("small%d", i)] = i
	}
	_, err := acme.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "x", Additional: m}}})
	requireRefused(t, err, contextmem.ErrInvalid, "Memories[0].Additional")
	require.Contains(t, err.Error(), `over the maximum of 1024`)
	require.Contains(t, err.Error(), fmt.Sprintf(`(bytes by key: "alpha" %d, "beta" %d`, 60*len(marker)+2+5+4, 10*len(marker)+2+4+4))
}

// TestOddTextIsAccepted checks that ids and texts that look like paths, SQL or escapes are stored and returned
// unchanged.
func TestOddTextIsAccepted(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("../../x")
	ids := []string{"../../x", "a,b", "a/b", `a\b`, "%00", "a b", "'; DROP TABLE sources; --", "日本", "\u202e", "-", ".", "_chunk_0"}
	var ms []contextmem.Memory
	for _, id := range ids {
		ms = append(ms, contextmem.Memory{ID: id, Text: "The kettle " + id + " is on the shelf.", Metadata: map[string]any{"k": `\u0000`, "list": []string{"a"}}})
	}
	require.Equal(t, ids, servicetest.Remember(t, s, ms...))
	for _, id := range ids {
		f, err := s.Fetch(t.Context(), contextmem.FetchRequest{ID: id})
		require.NoError(t, err, id)
		require.Equal(t, "The kettle "+id+" is on the shelf.", f.Text)
	}
	p, err := s.List(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory, IDs: []string{"a,b"}})
	require.NoError(t, err)
	require.Len(t, p.Sources, 1)
	require.Equal(t, map[string]any{"k": `\u0000`, "list": []any{"a"}}, p.Sources[0].Metadata)
	res, err := s.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: ids})
	require.NoError(t, err)
	require.Equal(t, len(ids), res.Deleted)
}

func TestAddKnowledgeRefusesBadInput(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, &contextmem.Options{MaxFileBytes: 1000, MaxItems: 3})
	data := []byte("The kettle is on the shelf.")
	file := func(edit func(f *contextmem.File)) contextmem.KnowledgeBatch {
		f := contextmem.File{Name: "b.txt", Data: data}
		edit(&f)
		return contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "a.txt", Data: data}, f}}
	}
	app := func(a contextmem.AppItem) contextmem.KnowledgeBatch {
		return contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "a.txt", Data: data}}, Apps: []contextmem.AppItem{a}}
	}
	body := map[string]any{"body": marker}
	for name, c := range map[string]struct {
		b     contextmem.KnowledgeBatch
		kind  error
		field string
	}{
		"nothing":         {contextmem.KnowledgeBatch{}, contextmem.ErrInvalid, "Files"},
		"too many":        {contextmem.KnowledgeBatch{Files: make([]contextmem.File, 4)}, contextmem.ErrInvalid, "Files"},
		"format":          {contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "b.exe", Data: data}}}, contextmem.ErrFormat, "Files[0]"},
		"empty":           {contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "b.txt"}, {Name: "b.exe", Data: data}}}, contextmem.ErrFormat, "Files[0]"},
		"folder":          {file(func(f *contextmem.File) { f.Name = "a\x00/b.txt" }), contextmem.ErrInvalid, "Files[1].Name"},
		"large":           {file(func(f *contextmem.File) { f.Data = make([]byte, 1001) }), contextmem.ErrTooLarge, "Files[1]"},
		"name":            {file(func(f *contextmem.File) { f.Name = "a\x00.txt" }), contextmem.ErrInvalid, "Files[1].Name"},
		"id":              {file(func(f *contextmem.File) { f.ID = "\xff" }), contextmem.ErrInvalid, "Files[1].ID"},
		"content type":    {file(func(f *contextmem.File) { f.ContentType = "text/plain; x=" + badUTF8 }), contextmem.ErrInvalid, "Files[1].ContentType"},
		"title":           {file(func(f *contextmem.File) { f.Title = nul }), contextmem.ErrInvalid, "Files[1].Title"},
		"kind":            {file(func(f *contextmem.File) { f.Kind = oversizedText() }), contextmem.ErrInvalid, "Files[1].Kind"},
		"url":             {file(func(f *contextmem.File) { f.URL = badUTF8 }), contextmem.ErrInvalid, "Files[1].URL"},
		"description":     {file(func(f *contextmem.File) { f.Description = badUTF8 }), contextmem.ErrInvalid, "Files[1].Description"},
		"principal":       {file(func(f *contextmem.File) { f.ACL = []string{"a", badUTF8} }), contextmem.ErrInvalid, "Files[1].ACL"},
		"blank principal": {file(func(f *contextmem.File) { f.ACL = []string{" "} }), contextmem.ErrInvalid, "Files[1].ACL"},
		"principals":      {file(func(f *contextmem.File) { f.ACL = make([]string, 1001) }), contextmem.ErrInvalid, "Files[1].ACL"},
		"metadata":        {file(func(f *contextmem.File) { f.Metadata = map[string]any{"a": math.Inf(-1)} }), contextmem.ErrInvalid, "Files[1].Metadata"},
		"app id":          {app(contextmem.AppItem{ID: "a\x00", Fields: body}), contextmem.ErrInvalid, "Apps[0].ID"},
		"app text":        {app(contextmem.AppItem{Kind: content.AppMessage, Fields: map[string]any{"body": badUTF8}}), contextmem.ErrInvalid, "Apps[0].Fields"},
		"app timestamp":   {app(contextmem.AppItem{Kind: content.AppMessage, Fields: body, Timestamp: badUTF8}), contextmem.ErrInvalid, "Apps[0].Timestamp"},
		"app external id": {app(contextmem.AppItem{Kind: content.AppMessage, Fields: body, ExternalID: nul}), contextmem.ErrInvalid, "Apps[0].ExternalID"},
		"app content":     {app(contextmem.AppItem{Content: &content.AppContent{Text: marker, Markdown: marker}}), contextmem.ErrUnprocessed, "Apps[0].Content"},
		"app meta":        {app(contextmem.AppItem{Kind: content.AppMessage, Fields: body, Meta: map[string]any{"x": math.NaN()}}), contextmem.ErrInvalid, "Apps[0].Meta"},
		"app too large":   {app(contextmem.AppItem{Kind: content.AppMessage, Fields: map[string]any{"body": strings.Repeat(marker, 100)}}), contextmem.ErrTooLarge, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := acme.Sub(name)
			_, err := s.AddKnowledge(t.Context(), c.b)
			requireRefused(t, err, c.kind, c.field)
			p, err := s.List(t.Context(), contextmem.ListRequest{})
			require.NoError(t, err)
			require.Zero(t, p.Total, "one bad item refuses all")
		})
	}
}

func TestSuppliedGraphIsChecked(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	ent := func(names ...string) map[string]content.SuppliedEntity {
		m := map[string]content.SuppliedEntity{}
		for _, n := range names {
			m[n] = content.SuppliedEntity{Name: n}
		}
		return m
	}
	rel := func(n int, r content.SuppliedRelation) []content.SuppliedRelation {
		out := make([]content.SuppliedRelation, n)
		for i := range out {
			out[i] = r
		}
		return out
	}
	ab := content.SuppliedRelation{Source: "a", Target: "b", Predicate: "knows"}
	many := map[string]content.SuppliedEntity{}
	for i := range 5001 {
		many[fmt.Sprint(i)] = content.SuppliedEntity{Name: "n"}
	}
	for name, c := range map[string]struct {
		key   string
		g     content.SuppliedGraph
		field string
	}{
		"unknown source":   {"other", content.SuppliedGraph{}, "Graphs.other"},
		"entities":         {"m", content.SuppliedGraph{Entities: many}, "Graphs.m.Entities"},
		"relations":        {"m", content.SuppliedGraph{Entities: ent("a", "b"), Relations: rel(10001, ab)}, "Graphs.m.Relations"},
		"degree":           {"m", content.SuppliedGraph{Entities: ent("a", "b"), Relations: rel(501, ab)}, "Graphs.m.Relations[500]"},
		"no such handle":   {"m", content.SuppliedGraph{Entities: ent("a"), Relations: rel(1, ab)}, "Graphs.m.Relations[0]"},
		"entity name":      {"m", content.SuppliedGraph{Entities: map[string]content.SuppliedEntity{"a": {Name: strings.Repeat("é", 257)}}}, "Graphs.m.Entities.a.Name"},
		"entity NUL":       {"m", content.SuppliedGraph{Entities: map[string]content.SuppliedEntity{"a": {Name: nul}}}, "Graphs.m.Entities.a"},
		"blank predicate":  {"m", content.SuppliedGraph{Entities: ent("a", "b"), Relations: rel(1, content.SuppliedRelation{Source: "a", Target: "b", Predicate: " "})}, "Predicate"},
		"long predicate":   {"m", content.SuppliedGraph{Entities: ent("a", "b"), Relations: rel(1, content.SuppliedRelation{Source: "a", Target: "b", Predicate: strings.Repeat("p", 257)})}, "Predicate"},
		"long context":     {"m", content.SuppliedGraph{Entities: ent("a", "b"), Relations: rel(1, content.SuppliedRelation{Source: "a", Target: "b", Predicate: "p", Context: strings.Repeat(marker, 200)})}, "Context"},
		"temporal garbage": {"m", content.SuppliedGraph{Entities: ent("a", "b"), Relations: rel(1, content.SuppliedRelation{Source: "a", Target: "b", Predicate: "p", Temporal: badUTF8})}, "Relations[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := acme.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "x"}}, Graphs: map[string]content.SuppliedGraph{c.key: c.g}})
			requireRefused(t, err, contextmem.ErrInvalid, c.field)
		})
	}
	st, err := acme.Status(t.Context(), "m")
	require.NoError(t, err)
	require.True(t, st[0].Unknown)
}

func TestCreateTenantRefusesBadInput(t *testing.T) {
	t.Parallel()
	svc, _ := servicetest.Open(t, nil)
	for _, id := range []string{"", ".", "..", "../../x", "a/b", "a b", "-a", "é", "a\x00", strings.Repeat("a", 129), "a\n"} {
		_, err := svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: id})
		requireRefused(t, err, contextmem.ErrInvalid, "ID")
	}
	for _, d := range []int{-1, 4097} {
		_, err := svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "d", Embeddings: true, Dimension: d})
		requireRefused(t, err, contextmem.ErrInvalid, "Dimension")
	}
	for _, org := range []string{"", "a\x00", "\xff", strings.Repeat("o", 257)} {
		_, err := svc.Org(org).CreateTenant(t.Context(), contextmem.TenantSpec{ID: "x"})
		requireRefused(t, err, contextmem.ErrInvalid, "Org")
	}
	_, err := svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.ErrorIs(t, err, contextmem.ErrExists)
	_, err = svc.ListTenants(t.Context(), "", 1001)
	requireRefused(t, err, contextmem.ErrInvalid, "limit")
}

func TestSchemaRules(t *testing.T) {
	t.Parallel()
	svc, _ := servicetest.Open(t, nil)
	flagged := func(n int) []contextmem.Field {
		out := make([]contextmem.Field, n)
		for i := range out {
			out[i] = contextmem.Field{Name: fmt.Sprintf("f%d", i), Dense: i%2 == 0, Sparse: i%2 == 1}
		}
		return out
	}
	plain := func(n int) []contextmem.Field {
		out := make([]contextmem.Field, n)
		for i := range out {
			out[i] = contextmem.Field{Name: fmt.Sprintf("p%d", i)}
		}
		return out
	}
	for name, c := range map[string]struct {
		fields []contextmem.Field
		kind   error
		field  string
	}{
		"no name":        {[]contextmem.Field{{}}, contextmem.ErrInvalid, "Schema[0].Name"},
		"digit first":    {[]contextmem.Field{{Name: "1a"}}, contextmem.ErrInvalid, "Schema[0].Name"},
		"hyphen":         {[]contextmem.Field{{Name: "a-b"}}, contextmem.ErrInvalid, "Schema[0].Name"},
		"not ASCII":      {[]contextmem.Field{{Name: "é"}}, contextmem.ErrInvalid, "Schema[0].Name"},
		"line end":       {[]contextmem.Field{{Name: "a\n"}}, contextmem.ErrInvalid, "Schema[0].Name"},
		"long name":      {[]contextmem.Field{{Name: strings.Repeat("a", 256)}}, contextmem.ErrInvalid, "Schema[0].Name"},
		"reserved":       {[]contextmem.Field{{Name: "Chunk_UUID"}}, contextmem.ErrInvalid, "Schema[0].Name"},
		"twice":          {[]contextmem.Field{{Name: "dept"}, {Name: "Dept"}}, contextmem.ErrInvalid, "Schema[1].Name"},
		"ARRAY":          {[]contextmem.Field{{Name: "a", Type: "ARRAY"}}, contextmem.ErrInvalid, "Schema[0].Type"},
		"array":          {[]contextmem.Field{{Name: "a", Type: "array"}}, contextmem.ErrInvalid, "Schema[0].Type"},
		"unknown type":   {[]contextmem.Field{{Name: "a", Type: "TEXT"}}, contextmem.ErrUnprocessed, "Schema[0].Type"},
		"negative":       {[]contextmem.Field{{Name: "a", MaxLength: -1}}, contextmem.ErrInvalid, "Schema[0].MaxLength"},
		"over max":       {[]contextmem.Field{{Name: "a", MaxLength: 65536}}, contextmem.ErrInvalid, "Schema[0].MaxLength"},
		"dense number":   {[]contextmem.Field{{Name: "a", Type: content.Int64, Dense: true}}, contextmem.ErrInvalid, "Schema[0].Dense"},
		"sparse boolean": {[]contextmem.Field{{Name: "a", Type: content.Bool, Sparse: true}}, contextmem.ErrInvalid, "Schema[0].Sparse"},
		"33 fields":      {plain(33), contextmem.ErrInvalid, "Schema"},
		"7 flags":        {flagged(7), contextmem.ErrInvalid, "Schema"},
	} {
		_, err := svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "bad", Schema: c.fields})
		t.Run(name, func(t *testing.T) { requireRefused(t, err, c.kind, c.field) })
	}
	_, err := svc.Tenant("bad").Info(t.Context())
	require.ErrorIs(t, err, contextmem.ErrNotFound, "a refused tenant does not exist")

	full := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "full", Schema: append(flagged(6), plain(25)...)})
	fs, err := full.Schema(t.Context())
	require.NoError(t, err)
	require.Len(t, fs, 31)
	require.Equal(t, content.Varchar, fs[0].Type)
	require.Equal(t, 1024, fs[0].MaxLength)
	for name, c := range map[string]struct {
		fields []contextmem.Field
		kind   error
	}{
		"none":         {nil, contextmem.ErrInvalid},
		"exists":       {[]contextmem.Field{{Name: "F0"}}, contextmem.ErrConflict},
		"another flag": {[]contextmem.Field{{Name: "x", Dense: true}}, contextmem.ErrInvalid},
		"two":          {[]contextmem.Field{{Name: "x"}, {Name: "y"}}, contextmem.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := full.AddSchemaFields(t.Context(), c.fields)
			assert.ErrorIs(t, err, c.kind, name)
		})
	}
	added, err := full.AddSchemaFields(t.Context(), []contextmem.Field{{Name: "x", Type: "integer", Match: true}})
	require.NoError(t, err)
	require.Equal(t, content.Int64, added[0].Type)
}

func TestSchemaValues(t *testing.T) {
	t.Parallel()
	svc, _ := servicetest.Open(t, nil)
	types := map[content.DataType]struct{ good, bad []any }{
		content.Bool:              {[]any{true, nil}, []any{1, "true", []any{}}},
		content.Int8:              {[]any{127, -128, 5.0}, []any{128, -129, 1.5, "1", true}},
		content.Int16:             {[]any{32767, -32768}, []any{32768, -32769}},
		content.Int32:             {[]any{math.MaxInt32, math.MinInt32}, []any{math.MaxInt32 + 1, math.MinInt32 - 1}},
		content.Int64:             {[]any{int64(math.MaxInt64), uint8(3)}, []any{uint64(math.MaxUint64), 1e30, math.Pi, "9"}},
		content.Float:             {[]any{1.5, 3, float32(2)}, []any{1e39, "1.5", false}},
		content.Double:            {[]any{1e300, -1}, []any{"x", map[string]any{}}},
		content.Varchar:           {[]any{"", strings.Repeat("é", 10)}, []any{strings.Repeat("é", 11), 5, []any{"a"}}},
		content.JSON:              {[]any{1, "a", []any{1}, map[string]any{"a": 1}}, nil},
		content.FloatVector:       {[]any{[]any{1, 2.5}, []float32{1, 2}}, []any{[]any{"a"}, "1,2", 5}},
		content.SparseFloatVector: {[]any{map[string]any{"1": .5}}, []any{map[string]any{"1": "x"}, []any{1}, 5}},
	}
	var schema []contextmem.Field
	for dt := range types {
		schema = append(schema, contextmem.Field{Name: "f_" + strings.ToLower(string(dt)), Type: dt, MaxLength: 10, Match: true})
	}
	tn := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "typed", Schema: schema})
	for dt, c := range types {
		name := "f_" + strings.ToLower(string(dt))
		for _, v := range c.good {
			_, err := tn.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "x", Metadata: map[string]any{name: v}}}})
			assert.NoError(t, err, "%s %v", dt, v)
		}
		for _, v := range c.bad {
			_, err := tn.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "x", Metadata: map[string]any{name: v}}}})
			if assert.ErrorIs(t, err, contextmem.ErrUnprocessed, "%s %v", dt, v) {
				assert.Contains(t, err.Error(), "Memories[0].Metadata."+name)
			}
		}
	}
	_, err := tn.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "x", Metadata: map[string]any{"other": marker}}}})
	requireRefused(t, err, contextmem.ErrUnprocessed, "Memories[0].Metadata.other")
	req := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "required", Schema: []contextmem.Field{{Name: "dept", Required: true}}})
	for _, m := range []map[string]any{nil, {"dept": nil}} {
		_, err := req.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "x", Metadata: m}}})
		requireRefused(t, err, contextmem.ErrUnprocessed, "Memories[0].Metadata.dept")
	}
}

// TestAppItemsFailAlone checks that an app item that is invalid, or that a decoder could not read, does not affect the
// others.
func TestAppItemsFailAlone(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	good := &content.AppContent{Text: "The lift is being repaired."}
	res, err := acme.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Apps: []contextmem.AppItem{
		{ID: "field", Kind: content.AppMessage, Fields: map[string]any{"body": 5}},
		{ID: "ok", Content: good},
		{ID: "base64", Content: &content.AppContent{HTMLBase64: "!" + marker}},
		{ID: "kind", Fields: map[string]any{"kind": true}, Content: good},
		{ID: "fault", Content: good, Fault: &contextmem.Error{Kind: fault.KindUnprocessed, Field: "title", Err: io.ErrUnexpectedEOF}},
	}})
	require.NoError(t, err)
	require.Equal(t, 1, res.Accepted)
	require.Equal(t, 4, res.Failed)
	for i, field := range []string{"Apps[0].Fields.body", "", "Apps[2].Content.HTMLBase64", "Apps[3]", "title"} {
		if field != "" {
			requireRefused(t, res.Items[i].Err, contextmem.ErrUnprocessed, field)
		}
	}
	require.Equal(t, contextmem.StatusQueued, res.Items[1].Status)
}
