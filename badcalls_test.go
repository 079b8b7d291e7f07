package contextmem_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestRecallRefusesBadParameters(t *testing.T) {
	t.Parallel()
	svc, _ := servicetest.Open(t, nil)
	s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "f", Schema: []contextmem.Field{{Name: "dept", Match: true}, {Name: "year", Type: content.Int32, Match: true}, {Name: "note"}}}).Sub("a")
	many := make([]any, 501)
	for i := range many {
		many[i] = "v"
	}
	subs := map[string]float64{}
	for i := range 101 {
		subs[strings.Repeat("s", i+1)] = 1
	}
	meta := func(k string, v any) contextmem.Filters {
		return contextmem.Filters{Metadata: map[string]any{k: v}}
	}
	add := func(k string, v any) contextmem.Filters {
		return contextmem.Filters{Additional: map[string]any{k: v}}
	}
	for name, c := range map[string]struct {
		q     contextmem.Recall
		field string
	}{
		"no query":          {contextmem.Recall{}, "Query"},
		"blank":             {contextmem.Recall{Query: " \t"}, "Query"},
		"request id":        {contextmem.Recall{Query: "x", RequestID: "1234"}, "RequestID"},
		"long":              {contextmem.Recall{Query: strings.Repeat("é", 8001)}, "Query"},
		"NUL":               {contextmem.Recall{Query: nul}, "Query"},
		"bytes":             {contextmem.Recall{Query: badUTF8}, "Query"},
		"class":             {contextmem.Recall{Query: "x", Class: 7}, "Class"},
		"mode":              {contextmem.Recall{Query: "x", Mode: "slow"}, "Mode"},
		"few":               {contextmem.Recall{Query: "x", MaxResults: -1}, "MaxResults"},
		"many":              {contextmem.Recall{Query: "x", MaxResults: 1002}, "MaxResults"},
		"alpha":             {contextmem.Recall{Query: "x", Alpha: contextmem.FixedAlpha(1.01)}, "Alpha"},
		"alpha NaN":         {contextmem.Recall{Query: "x", Alpha: contextmem.FixedAlpha(math.NaN())}, "Alpha"},
		"recency":           {contextmem.Recall{Query: "x", RecencyBias: -.1}, "RecencyBias"},
		"recency NaN":       {contextmem.Recall{Query: "x", RecencyBias: math.NaN()}, "RecencyBias"},
		"related":           {contextmem.Recall{Query: "x", RelatedChunks: 51}, "RelatedChunks"},
		"hint":              {contextmem.Recall{Query: "x", Hint: strings.Repeat(marker, 1000)}, "Hint"},
		"hint bytes":        {contextmem.Recall{Query: "x", Hint: badUTF8}, "Hint"},
		"no subs":           {contextmem.Recall{Query: "x", Subs: map[string]float64{}}, "Subs"},
		"many subs":         {contextmem.Recall{Query: "x", Subs: subs}, "Subs"},
		"weight 0":          {contextmem.Recall{Query: "x", Subs: map[string]float64{"a": 0}}, "Subs.a"},
		"weight NaN":        {contextmem.Recall{Query: "x", Subs: map[string]float64{"a": math.NaN()}}, "Subs.a"},
		"weight infinite":   {contextmem.Recall{Query: "x", Subs: map[string]float64{"a": math.Inf(1)}}, "Subs.a"},
		"many ids":          {contextmem.Recall{Query: "x", IDs: make([]string, 10_001)}, "IDs"},
		"operator":          {contextmem.Recall{Query: "x", Filters: meta("dept", map[string]any{"$gte": marker})}, "Filters.Metadata.dept"},
		"null":              {contextmem.Recall{Query: "x", Filters: meta("dept", nil)}, "Filters.Metadata.dept"},
		"list of number":    {contextmem.Recall{Query: "x", Filters: meta("year", []any{1})}, "Filters.Metadata.year"},
		"long list":         {contextmem.Recall{Query: "x", Filters: meta("dept", many)}, "Filters.Metadata.dept"},
		"nested list":       {contextmem.Recall{Query: "x", Filters: meta("dept", []any{[]any{marker}})}, "Filters.Metadata.dept"},
		"large":             {contextmem.Recall{Query: "x", Filters: meta("dept", strings.Repeat(marker, 5000))}, "Filters"},
		"NaN":               {contextmem.Recall{Query: "x", Filters: meta("dept", math.NaN())}, "Filters"},
		"document object":   {contextmem.Recall{Query: "x", Filters: add("k", map[string]any{"$in": marker})}, "Filters.Additional.k"},
		"strict undeclared": {contextmem.Recall{Query: "x", Filters: contextmem.Filters{Metadata: map[string]any{"zz": marker}, Strict: true}}, "Filters.Metadata.zz"},
		"strict no match":   {contextmem.Recall{Query: "x", Filters: contextmem.Filters{Metadata: map[string]any{"note": marker}, Strict: true}}, "Filters.Metadata.note"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Recall(t.Context(), c.q)
			requireRefused(t, err, contextmem.ErrInvalid, c.field)
		})
	}
	for name, c := range map[string]struct {
		q     contextmem.BooleanRecallRequest
		field string
	}{
		"no query":   {contextmem.BooleanRecallRequest{}, "Query"},
		"request id": {contextmem.BooleanRecallRequest{Query: "x", RequestID: "1234"}, "RequestID"},
		"class":      {contextmem.BooleanRecallRequest{Query: "x", Class: 3}, "Class"},
		"operator":   {contextmem.BooleanRecallRequest{Query: "x", Operator: "not"}, "Operator"},
		"many":       {contextmem.BooleanRecallRequest{Query: "x", MaxResults: 1001}, "MaxResults"},
		"few":        {contextmem.BooleanRecallRequest{Query: "x", MaxResults: -1}, "MaxResults"},
		"subs":       {contextmem.BooleanRecallRequest{Query: "x", Subs: map[string]float64{"a": -1}}, "Subs.a"},
		"titles":     {contextmem.BooleanRecallRequest{Query: "x", Titles: make([]string, 10_001)}, "Titles"},
	} {
		t.Run("boolean "+name, func(t *testing.T) {
			_, err := s.BooleanRecall(t.Context(), c.q)
			requireRefused(t, err, contextmem.ErrInvalid, c.field)
		})
	}
}

func TestReadsRefuseBadParameters(t *testing.T) {
	t.Parallel()
	svc, _ := servicetest.Open(t, nil)
	tn := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "f", Schema: []contextmem.Field{{Name: "dept", Match: true}, {Name: "topic", Dense: true}}})
	s := tn.Sub("a")
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "The kettle is on the shelf.", Metadata: map[string]any{"topic": "tea"}})
	ctx := t.Context()
	list := func(r contextmem.ListRequest) error { _, err := s.List(ctx, r); return err }
	fetch := func(r contextmem.FetchRequest) error { _, err := s.Fetch(ctx, r); return err }
	del := func(r contextmem.DeleteItemsRequest) error { _, err := s.DeleteItems(ctx, r); return err }
	edit := func(r contextmem.EditMetadataRequest) error { _, err := s.EditMetadata(ctx, r); return err }
	rels := func(r contextmem.GraphRelationsRequest) error { _, err := s.GraphRelations(ctx, r); return err }
	walk := func(r contextmem.SubgraphRequest) error { _, err := s.Subgraph(ctx, r); return err }
	m := func(k string, v any) map[string]any { return map[string]any{k: v} }
	for name, c := range map[string]struct {
		err, kind error
		field     string
	}{
		"list class":         {list(contextmem.ListRequest{Class: contextmem.ClassAll}), contextmem.ErrInvalid, "Class"},
		"list page":          {list(contextmem.ListRequest{Page: -1}), contextmem.ErrInvalid, "Page"},
		"list page size":     {list(contextmem.ListRequest{PageSize: 101}), contextmem.ErrInvalid, "PageSize"},
		"list ids":           {list(contextmem.ListRequest{IDs: make([]string, 101)}), contextmem.ErrInvalid, "IDs"},
		"list filter":        {list(contextmem.ListRequest{Filters: contextmem.Filters{Metadata: m("dept", []any{marker})}}), contextmem.ErrInvalid, "Filters.Metadata.dept"},
		"fetch id":           {fetch(contextmem.FetchRequest{}), contextmem.ErrInvalid, "ID"},
		"fetch mode":         {fetch(contextmem.FetchRequest{ID: "m", Mode: "all"}), contextmem.ErrInvalid, "Mode"},
		"fetch short":        {fetch(contextmem.FetchRequest{ID: "m", Expiry: 59 * time.Second}), contextmem.ErrInvalid, "Expiry"},
		"fetch long":         {fetch(contextmem.FetchRequest{ID: "m", Expiry: 7*24*time.Hour + 1}), contextmem.ErrInvalid, "Expiry"},
		"fetch class":        {fetch(contextmem.FetchRequest{ID: "m", Class: 5}), contextmem.ErrInvalid, "Class"},
		"fetch unknown":      {fetch(contextmem.FetchRequest{ID: strings.Repeat("x", 1<<20)}), contextmem.ErrNotFound, ""},
		"delete none":        {del(contextmem.DeleteItemsRequest{}), contextmem.ErrUnprocessed, "IDs"},
		"delete many":        {del(contextmem.DeleteItemsRequest{IDs: make([]string, 1001)}), contextmem.ErrInvalid, "IDs"},
		"delete class":       {del(contextmem.DeleteItemsRequest{IDs: []string{"m"}, Class: 4}), contextmem.ErrInvalid, "Class"},
		"edit nothing":       {edit(contextmem.EditMetadataRequest{ID: "m"}), contextmem.ErrInvalid, "Metadata"},
		"edit unknown":       {edit(contextmem.EditMetadataRequest{ID: "none", Additional: m("a", 1)}), contextmem.ErrNotFound, ""},
		"edit undeclared":    {edit(contextmem.EditMetadataRequest{ID: "m", Metadata: m("zz", marker)}), contextmem.ErrUnprocessed, "Metadata.zz"},
		"edit type":          {edit(contextmem.EditMetadataRequest{ID: "m", Metadata: m("dept", 5)}), contextmem.ErrUnprocessed, "Metadata.dept"},
		"edit embedded null": {edit(contextmem.EditMetadataRequest{ID: "m", Metadata: m("topic", nil)}), contextmem.ErrInvalid, "Metadata.topic"},
		"edit reserved":      {edit(contextmem.EditMetadataRequest{ID: "m", Metadata: m("Source_ID", "x")}), contextmem.ErrInvalid, "Metadata.Source_ID"},
		"edit large":         {edit(contextmem.EditMetadataRequest{ID: "m", Additional: m("a", strings.Repeat(marker, 100))}), contextmem.ErrInvalid, "Additional"},
		"edit NaN":           {edit(contextmem.EditMetadataRequest{ID: "m", Additional: m("a", math.NaN())}), contextmem.ErrInvalid, "Additional"},
		"edit NUL":           {edit(contextmem.EditMetadataRequest{ID: "m", Additional: m("a", nul)}), contextmem.ErrInvalid, "Additional"},
		"relations limit":    {rels(contextmem.GraphRelationsRequest{Limit: 10001}), contextmem.ErrInvalid, "Limit"},
		"relations cursor":   {rels(contextmem.GraphRelationsRequest{Cursor: -1}), contextmem.ErrInvalid, "Cursor"},
		"relations class":    {rels(contextmem.GraphRelationsRequest{Class: 8}), contextmem.ErrInvalid, "Class"},
		"subgraph depth":     {walk(contextmem.SubgraphRequest{Depth: 11}), contextmem.ErrInvalid, "Depth"},
		"subgraph sources":   {walk(contextmem.SubgraphRequest{MaxSources: 1001}), contextmem.ErrInvalid, "MaxSources"},
		"subgraph seed":      {walk(contextmem.SubgraphRequest{}), contextmem.ErrInvalid, "ID"},
		"retry class":        {s.Retry(ctx, 9, "m"), contextmem.ErrInvalid, "Class"},
		"retry unknown":      {s.Retry(ctx, 0, "none"), contextmem.ErrNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) { requireRefused(t, c.err, c.kind, c.field) })
	}
	st, err := s.Status(ctx, "m", "", "\x00", strings.Repeat("x", 1<<20))
	require.NoError(t, err)
	require.Len(t, st, 4)
	require.Equal(t, contextmem.StatusCompleted, st[0].Status)
	for _, x := range st[1:] {
		require.True(t, x.Unknown)
	}
	for _, call := range []error{list(contextmem.ListRequest{}), fetch(contextmem.FetchRequest{ID: "m"})} {
		require.NoError(t, call)
	}
	_, err = svc.Tenant("nobody").Recall(ctx, contextmem.Recall{Query: "x"})
	require.ErrorIs(t, err, contextmem.ErrNotFound)
	_, err = svc.Tenant("../x").Recall(ctx, contextmem.Recall{Query: "x"})
	requireRefused(t, err, contextmem.ErrInvalid, "Tenant")
}

func TestVectorsRefuseBadInput(t *testing.T) {
	t.Parallel()
	svc, acme := servicetest.Open(t, nil)
	raw := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "raw", Embeddings: true, Dimension: 2})
	ctx := t.Context()
	one := []contextmem.Vector{{ChunkID: "c", Vector: []float32{1, 0}}}
	vec := func(v ...float32) []contextmem.VectorSource {
		return []contextmem.VectorSource{{SourceID: "ok", Vectors: []contextmem.Vector{{ChunkID: "ok", Vector: []float32{0, 1}}}}, {SourceID: "a", Vectors: []contextmem.Vector{{ChunkID: "c", Vector: v}}}}
	}
	inf := float32(math.Inf(1))
	for name, c := range map[string]struct {
		in    []contextmem.VectorSource
		field string
	}{
		"nothing":     {nil, "Sources"},
		"no source":   {[]contextmem.VectorSource{{Vectors: one}}, "Sources[0].SourceID"},
		"no vectors":  {[]contextmem.VectorSource{{SourceID: "a"}}, "Sources[0].Vectors"},
		"twice":       {[]contextmem.VectorSource{{SourceID: "a", Vectors: one}, {SourceID: "a", Vectors: one}}, "Sources[1].SourceID"},
		"chunk twice": {[]contextmem.VectorSource{{SourceID: "a", Vectors: one}, {SourceID: "b", Vectors: one}}, "Sources[1].Vectors[0].ChunkID"},
		"no chunk":    {[]contextmem.VectorSource{{SourceID: "a", Vectors: []contextmem.Vector{{Vector: []float32{1, 0}}}}}, "ChunkID"},
		"short":       {vec(1), "Sources[1].Vectors[0].Vector"},
		"long":        {vec(1, 2, 3), "Sources[1].Vectors[0].Vector"},
		"zero":        {vec(0, 0), "Vector"},
		"infinite":    {vec(inf, 0), "Vector"},
		"NaN":         {vec(inf-inf, 0), "Vector"},
		"2001":        {[]contextmem.VectorSource{{SourceID: "a", Vectors: manyVectors(2001)}}, "Sources"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := raw.InsertVectors(ctx, contextmem.InsertVectorsRequest{Sources: c.in})
			requireRefused(t, err, contextmem.ErrUnprocessed, c.field)
			hits, err := raw.SearchVectors(ctx, contextmem.SearchVectorsRequest{Vector: []float32{1, 1}})
			require.NoError(t, err)
			require.Empty(t, hits)
		})
	}
	for _, id := range []string{"a\x00", "\xff", strings.Repeat("x", 1025)} {
		_, err := raw.InsertVectors(ctx, contextmem.InsertVectorsRequest{Sources: []contextmem.VectorSource{{SourceID: id, Vectors: one}}})
		requireRefused(t, err, contextmem.ErrInvalid, "SourceID")
		_, err = raw.InsertVectors(ctx, contextmem.InsertVectorsRequest{Sources: []contextmem.VectorSource{{SourceID: "a", Vectors: []contextmem.Vector{{ChunkID: id, Vector: []float32{1, 0}}}}}})
		requireRefused(t, err, contextmem.ErrInvalid, "ChunkID")
	}
	_, err := raw.SearchVectors(ctx, contextmem.SearchVectorsRequest{Vector: []float32{1}})
	requireRefused(t, err, contextmem.ErrUnprocessed, "Vector")
	_, err = raw.SearchVectors(ctx, contextmem.SearchVectorsRequest{Vector: []float32{1, 0}, Limit: 1001})
	requireRefused(t, err, contextmem.ErrInvalid, "Limit")
	_, err = raw.SearchVectors(ctx, contextmem.SearchVectorsRequest{Vector: []float32{1, 0}, Metadata: map[string]any{"a": []any{marker}}})
	requireRefused(t, err, contextmem.ErrInvalid, "Metadata")
	_, err = raw.FilterVectors(ctx, contextmem.VectorSelection{SourceID: "a", ChunkIDs: []string{"c"}}, 0)
	requireRefused(t, err, contextmem.ErrInvalid, "SourceID")
	_, err = raw.FilterVectors(ctx, contextmem.VectorSelection{SourceID: "a"}, 10001)
	requireRefused(t, err, contextmem.ErrInvalid, "limit")
	_, err = raw.DeleteVectors(ctx, contextmem.VectorSelection{})
	requireRefused(t, err, contextmem.ErrInvalid, "SourceID")
	_, err = acme.InsertVectors(ctx, contextmem.InsertVectorsRequest{Sources: vec(1, 2)})
	requireRefused(t, err, contextmem.ErrInvalid, "Tenant")
	_, err = raw.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "x"}}})
	requireRefused(t, err, contextmem.ErrInvalid, "Tenant")
	_, err = raw.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "a.txt", Data: []byte("x")}}})
	requireRefused(t, err, contextmem.ErrInvalid, "Tenant")
}

func manyVectors(n int) []contextmem.Vector {
	out := make([]contextmem.Vector, n)
	for i := range out {
		out[i] = contextmem.Vector{ChunkID: "c" + strings.Repeat("x", i%1000) + strings.Repeat("y", i/1000), Vector: []float32{1, 0}}
	}
	return out
}

func TestOrganisationCallsRefuseBadInput(t *testing.T) {
	t.Parallel()
	svc, _ := servicetest.Open(t, nil)
	ctx := t.Context()
	const request = "0b0cb5dc-2f0a-4d2e-9d5a-4f2b0f8f3a11"
	fb := func(edit func(f *contextmem.Feedback)) error {
		f := contextmem.Feedback{RequestID: request, Text: "wrong"}
		edit(&f)
		_, err := svc.AddFeedback(ctx, f)
		return err
	}
	key := func(s contextmem.KeySpec) error { _, _, err := svc.CreateKey(ctx, s); return err }
	hook := func(w contextmem.WebhookSpec) error { _, err := svc.SetWebhook(ctx, w); return err }
	page := func(r contextmem.DeliveriesRequest) error { _, err := svc.ListDeliveries(ctx, r); return err }
	const good = "https://hooks.example.com/x"
	ids := make([]string, 101)
	for i := range ids {
		ids[i] = strings.Repeat("i", i+1)
	}
	pairs := map[string]string{}
	for i := range 21 {
		pairs[strings.Repeat("k", i)] = "v"
	}
	for name, c := range map[string]struct {
		err, kind error
		field     string
	}{
		"feedback request":     {fb(func(f *contextmem.Feedback) { f.RequestID = "x" }), contextmem.ErrInvalid, "RequestID"},
		"feedback nothing":     {fb(func(f *contextmem.Feedback) { f.Text = " \n" }), contextmem.ErrInvalid, "Text"},
		"feedback long":        {fb(func(f *contextmem.Feedback) { f.Text = strings.Repeat("é", 8001) }), contextmem.ErrInvalid, "Text"},
		"feedback NUL":         {fb(func(f *contextmem.Feedback) { f.Text = nul }), contextmem.ErrInvalid, "Text"},
		"feedback answer":      {fb(func(f *contextmem.Feedback) { f.GroundTruth.Answer = badUTF8 }), contextmem.ErrInvalid, "GroundTruth.Answer"},
		"feedback ids":         {fb(func(f *contextmem.Feedback) { f.GroundTruth.SourceIDs = ids }), contextmem.ErrInvalid, "GroundTruth.SourceIDs"},
		"feedback long id":     {fb(func(f *contextmem.Feedback) { f.GroundTruth.SourceIDs = []string{strings.Repeat("é", 257)} }), contextmem.ErrInvalid, "GroundTruth.SourceIDs"},
		"feedback rating":      {fb(func(f *contextmem.Feedback) { f.Rating = "bad" }), contextmem.ErrInvalid, "Rating"},
		"feedback source":      {fb(func(f *contextmem.Feedback) { f.Source = "bot" }), contextmem.ErrInvalid, "Source"},
		"feedback sub":         {fb(func(f *contextmem.Feedback) { f.Sub = "s" }), contextmem.ErrInvalid, "Sub"},
		"feedback long sub":    {fb(func(f *contextmem.Feedback) { f.Tenant, f.Sub = "acme", oversizedText() }), contextmem.ErrInvalid, "Sub"},
		"feedback tenant":      {fb(func(f *contextmem.Feedback) { f.Tenant = "nobody" }), contextmem.ErrNotFound, ""},
		"feedback pairs":       {fb(func(f *contextmem.Feedback) { f.Metadata = pairs }), contextmem.ErrInvalid, "Metadata"},
		"feedback value":       {fb(func(f *contextmem.Feedback) { f.Metadata = map[string]string{"a": strings.Repeat(marker, 50)} }), contextmem.ErrInvalid, "Metadata"},
		"feedback value bytes": {fb(func(f *contextmem.Feedback) { f.Metadata = map[string]string{"a": badUTF8} }), contextmem.ErrInvalid, "Metadata"},
		"key env":              {key(contextmem.KeySpec{Env: "prod"}), contextmem.ErrInvalid, "Env"},
		"key prefix":           {key(contextmem.KeySpec{Prefix: "a.b"}), contextmem.ErrInvalid, "Prefix"},
		"key long prefix":      {key(contextmem.KeySpec{Prefix: strings.Repeat("a", 17)}), contextmem.ErrInvalid, "Prefix"},
		"key scope":            {key(contextmem.KeySpec{Scopes: []contextmem.Scope{"root"}}), contextmem.ErrInvalid, "Scopes"},
		"key tenant":           {key(contextmem.KeySpec{Tenants: []string{"../x"}}), contextmem.ErrInvalid, "Tenant"},
		"key TTL":              {key(contextmem.KeySpec{TTL: -1}), contextmem.ErrInvalid, "TTL"},
		"key owner":            {key(contextmem.KeySpec{Owner: badUTF8}), contextmem.ErrInvalid, "Owner"},
		"key revoke":           {svc.RevokeKey(ctx, "nothing"), contextmem.ErrNotFound, ""},
		"hook no url":          {hook(contextmem.WebhookSpec{}), contextmem.ErrInvalid, "URL"},
		"hook http":            {hook(contextmem.WebhookSpec{URL: "http://hooks.example.com"}), contextmem.ErrInvalid, "URL"},
		"hook local":           {hook(contextmem.WebhookSpec{URL: "https://127.1/"}), contextmem.ErrInvalid, "URL"},
		"hook user":            {hook(contextmem.WebhookSpec{URL: "https://u:" + marker + "@hooks.example.com"}), contextmem.ErrInvalid, "URL"},
		"hook events":          {hook(contextmem.WebhookSpec{URL: good, EventTypes: []string{}}), contextmem.ErrUnprocessed, "EventTypes"},
		"hook event":           {hook(contextmem.WebhookSpec{URL: good, EventTypes: []string{"x"}}), contextmem.ErrUnprocessed, "EventTypes"},
		"hook short secret":    {hook(contextmem.WebhookSpec{URL: good, Secret: "short"}), contextmem.ErrUnprocessed, "Secret"},
		"hook both":            {hook(contextmem.WebhookSpec{URL: good, Secret: marker + marker, GenerateSecret: true}), contextmem.ErrUnprocessed, "Secret"},
		"hook delete":          {svc.DeleteWebhook(ctx), contextmem.ErrNotFound, ""},
		"deliveries limit":     {page(contextmem.DeliveriesRequest{Limit: 101}), contextmem.ErrInvalid, "Limit"},
		"deliveries status":    {page(contextmem.DeliveriesRequest{Status: "x"}), contextmem.ErrInvalid, "Status"},
		"deliveries cursor":    {page(contextmem.DeliveriesRequest{Cursor: "c-1"}), contextmem.ErrInvalid, "Cursor"},
		"deliveries cursor 2":  {page(contextmem.DeliveriesRequest{Cursor: "12"}), contextmem.ErrInvalid, "Cursor"},
		"delivery retry":       {svc.RetryDelivery(ctx, "dlv_x"), contextmem.ErrNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) { requireRefused(t, c.err, c.kind, c.field) })
	}
	fs, err := svc.ListFeedback(ctx, "", 0)
	require.NoError(t, err)
	require.Empty(t, fs)
	ks, err := svc.Keys(ctx)
	require.NoError(t, err)
	require.Empty(t, ks)
	w, err := svc.Webhook(ctx)
	require.NoError(t, err)
	require.False(t, w.Registered)
}
