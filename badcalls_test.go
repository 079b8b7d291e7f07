package contextmem_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

func TestRecallRefusesBadParameters(t *testing.T) {
	t.Parallel()
	svc, _ := open(t, nil)
	s := tenant(t, svc, contextmem.TenantSpec{ID: "f", Schema: []contextmem.Field{{Name: "dept", Match: true}, {Name: "year", Type: contextmem.Int32, Match: true}, {Name: "note"}}}).Sub("a")
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
		"no query":          {contextmem.Recall{}, "query"},
		"blank":             {contextmem.Recall{Query: " \t"}, "query"},
		"request id":        {contextmem.Recall{Query: "x", RequestID: "1234"}, "request_id"},
		"long":              {contextmem.Recall{Query: strings.Repeat("é", 8001)}, "query"},
		"NUL":               {contextmem.Recall{Query: nul}, "query"},
		"bytes":             {contextmem.Recall{Query: badUTF8}, "query"},
		"class":             {contextmem.Recall{Query: "x", Class: 7}, "type"},
		"mode":              {contextmem.Recall{Query: "x", Mode: "slow"}, "mode"},
		"few":               {contextmem.Recall{Query: "x", MaxResults: -1}, "max_results"},
		"many":              {contextmem.Recall{Query: "x", MaxResults: 1002}, "max_results"},
		"alpha":             {contextmem.Recall{Query: "x", Alpha: contextmem.FixedAlpha(1.01)}, "alpha"},
		"alpha NaN":         {contextmem.Recall{Query: "x", Alpha: contextmem.FixedAlpha(math.NaN())}, "alpha"},
		"recency":           {contextmem.Recall{Query: "x", RecencyBias: -.1}, "recency_bias"},
		"recency NaN":       {contextmem.Recall{Query: "x", RecencyBias: math.NaN()}, "recency_bias"},
		"related":           {contextmem.Recall{Query: "x", RelatedChunks: 51}, "num_related_chunks"},
		"hint":              {contextmem.Recall{Query: "x", Hint: strings.Repeat(marker, 1000)}, "additional_context"},
		"hint bytes":        {contextmem.Recall{Query: "x", Hint: badUTF8}, "additional_context"},
		"no subs":           {contextmem.Recall{Query: "x", Subs: map[string]float64{}}, "collections"},
		"many subs":         {contextmem.Recall{Query: "x", Subs: subs}, "collections"},
		"weight 0":          {contextmem.Recall{Query: "x", Subs: map[string]float64{"a": 0}}, "collections.a"},
		"weight NaN":        {contextmem.Recall{Query: "x", Subs: map[string]float64{"a": math.NaN()}}, "collections.a"},
		"weight infinite":   {contextmem.Recall{Query: "x", Subs: map[string]float64{"a": math.Inf(1)}}, "collections.a"},
		"many ids":          {contextmem.Recall{Query: "x", IDs: make([]string, 10_001)}, "ids"},
		"operator":          {contextmem.Recall{Query: "x", Filters: meta("dept", map[string]any{"$gte": marker})}, "metadata_filters.dept"},
		"null":              {contextmem.Recall{Query: "x", Filters: meta("dept", nil)}, "metadata_filters.dept"},
		"list of number":    {contextmem.Recall{Query: "x", Filters: meta("year", []any{1})}, "metadata_filters.year"},
		"long list":         {contextmem.Recall{Query: "x", Filters: meta("dept", many)}, "metadata_filters.dept"},
		"nested list":       {contextmem.Recall{Query: "x", Filters: meta("dept", []any{[]any{marker}})}, "metadata_filters.dept"},
		"large":             {contextmem.Recall{Query: "x", Filters: meta("dept", strings.Repeat(marker, 5000))}, "metadata_filters"},
		"NaN":               {contextmem.Recall{Query: "x", Filters: meta("dept", math.NaN())}, "metadata_filters"},
		"document object":   {contextmem.Recall{Query: "x", Filters: add("k", map[string]any{"$in": marker})}, "metadata_filters.additional_metadata.k"},
		"strict undeclared": {contextmem.Recall{Query: "x", Filters: contextmem.Filters{Metadata: map[string]any{"zz": marker}, Strict: true}}, "metadata_filters.zz"},
		"strict no match":   {contextmem.Recall{Query: "x", Filters: contextmem.Filters{Metadata: map[string]any{"note": marker}, Strict: true}}, "metadata_filters.note"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Recall(t.Context(), c.q)
			refused(t, err, contextmem.ErrInvalid, c.field)
		})
	}
	for name, c := range map[string]struct {
		q     contextmem.TextQuery
		field string
	}{
		"no query":   {contextmem.TextQuery{}, "query"},
		"request id": {contextmem.TextQuery{Query: "x", RequestID: "1234"}, "request_id"},
		"class":      {contextmem.TextQuery{Query: "x", Class: 3}, "type"},
		"operator":   {contextmem.TextQuery{Query: "x", Operator: "not"}, "operator"},
		"many":       {contextmem.TextQuery{Query: "x", MaxResults: 1001}, "max_results"},
		"few":        {contextmem.TextQuery{Query: "x", MaxResults: -1}, "max_results"},
		"subs":       {contextmem.TextQuery{Query: "x", Subs: map[string]float64{"a": -1}}, "collections.a"},
		"titles":     {contextmem.TextQuery{Query: "x", Titles: make([]string, 10_001)}, "titles"},
	} {
		t.Run("boolean "+name, func(t *testing.T) {
			_, err := s.BooleanRecall(t.Context(), c.q)
			refused(t, err, contextmem.ErrInvalid, c.field)
		})
	}
}

func TestReadsRefuseBadParameters(t *testing.T) {
	t.Parallel()
	svc, _ := open(t, nil)
	tn := tenant(t, svc, contextmem.TenantSpec{ID: "f", Schema: []contextmem.Field{{Name: "dept", Match: true}, {Name: "topic", Dense: true}}})
	s := tn.Sub("a")
	remember(t, s, contextmem.Memory{ID: "m", Text: "The kettle is on the shelf.", Metadata: map[string]any{"topic": "tea"}})
	ctx := t.Context()
	list := func(r contextmem.ListRequest) error { _, err := s.List(ctx, r); return err }
	fetch := func(r contextmem.FetchRequest) error { _, err := s.Fetch(ctx, r); return err }
	del := func(r contextmem.DeleteRequest) error { _, err := s.DeleteItems(ctx, r); return err }
	edit := func(r contextmem.EditRequest) error { _, err := s.EditMetadata(ctx, r); return err }
	rels := func(r contextmem.RelationsRequest) error { _, err := s.Relations(ctx, r); return err }
	walk := func(r contextmem.SubgraphRequest) error { _, err := s.Subgraph(ctx, r); return err }
	m := func(k string, v any) map[string]any { return map[string]any{k: v} }
	for name, c := range map[string]struct {
		err, kind error
		field     string
	}{
		"list class":         {list(contextmem.ListRequest{Class: contextmem.ClassAll}), contextmem.ErrInvalid, "type"},
		"list page":          {list(contextmem.ListRequest{Page: -1}), contextmem.ErrInvalid, "page"},
		"list page size":     {list(contextmem.ListRequest{PageSize: 101}), contextmem.ErrInvalid, "page_size"},
		"list ids":           {list(contextmem.ListRequest{IDs: make([]string, 101)}), contextmem.ErrInvalid, "ids"},
		"list filter":        {list(contextmem.ListRequest{Filters: contextmem.Filters{Metadata: m("dept", []any{marker})}}), contextmem.ErrInvalid, "metadata_filters.dept"},
		"fetch id":           {fetch(contextmem.FetchRequest{}), contextmem.ErrInvalid, "id"},
		"fetch mode":         {fetch(contextmem.FetchRequest{ID: "m", Mode: "all"}), contextmem.ErrInvalid, "mode"},
		"fetch short":        {fetch(contextmem.FetchRequest{ID: "m", Expiry: 59 * time.Second}), contextmem.ErrInvalid, "expiry_seconds"},
		"fetch long":         {fetch(contextmem.FetchRequest{ID: "m", Expiry: 7*24*time.Hour + 1}), contextmem.ErrInvalid, "expiry_seconds"},
		"fetch class":        {fetch(contextmem.FetchRequest{ID: "m", Class: 5}), contextmem.ErrInvalid, "type"},
		"fetch unknown":      {fetch(contextmem.FetchRequest{ID: strings.Repeat("x", 1<<20)}), contextmem.ErrNotFound, ""},
		"delete none":        {del(contextmem.DeleteRequest{}), contextmem.ErrUnprocessed, "ids"},
		"delete many":        {del(contextmem.DeleteRequest{IDs: make([]string, 1001)}), contextmem.ErrInvalid, "ids"},
		"delete class":       {del(contextmem.DeleteRequest{IDs: []string{"m"}, Class: 4}), contextmem.ErrInvalid, "type"},
		"edit nothing":       {edit(contextmem.EditRequest{ID: "m"}), contextmem.ErrInvalid, "metadata"},
		"edit unknown":       {edit(contextmem.EditRequest{ID: "none", Additional: m("a", 1)}), contextmem.ErrNotFound, ""},
		"edit undeclared":    {edit(contextmem.EditRequest{ID: "m", Metadata: m("zz", marker)}), contextmem.ErrUnprocessed, "metadata.zz"},
		"edit type":          {edit(contextmem.EditRequest{ID: "m", Metadata: m("dept", 5)}), contextmem.ErrUnprocessed, "metadata.dept"},
		"edit embedded null": {edit(contextmem.EditRequest{ID: "m", Metadata: m("topic", nil)}), contextmem.ErrInvalid, "metadata.topic"},
		"edit reserved":      {edit(contextmem.EditRequest{ID: "m", Metadata: m("Source_ID", "x")}), contextmem.ErrInvalid, "metadata.Source_ID"},
		"edit large":         {edit(contextmem.EditRequest{ID: "m", Additional: m("a", strings.Repeat(marker, 100))}), contextmem.ErrInvalid, "additional_metadata"},
		"edit NaN":           {edit(contextmem.EditRequest{ID: "m", Additional: m("a", math.NaN())}), contextmem.ErrInvalid, "additional_metadata"},
		"edit NUL":           {edit(contextmem.EditRequest{ID: "m", Additional: m("a", nul)}), contextmem.ErrInvalid, "additional_metadata"},
		"relations limit":    {rels(contextmem.RelationsRequest{Limit: 10001}), contextmem.ErrInvalid, "limit"},
		"relations cursor":   {rels(contextmem.RelationsRequest{Cursor: -1}), contextmem.ErrInvalid, "cursor"},
		"relations class":    {rels(contextmem.RelationsRequest{Class: 8}), contextmem.ErrInvalid, "type"},
		"subgraph depth":     {walk(contextmem.SubgraphRequest{Depth: 11}), contextmem.ErrInvalid, "depth"},
		"subgraph sources":   {walk(contextmem.SubgraphRequest{MaxSources: 1001}), contextmem.ErrInvalid, "max_sources"},
		"subgraph seed":      {walk(contextmem.SubgraphRequest{}), contextmem.ErrInvalid, "id"},
		"retry class":        {s.Retry(ctx, 9, "m"), contextmem.ErrInvalid, "type"},
		"retry unknown":      {s.Retry(ctx, 0, "none"), contextmem.ErrNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) { refused(t, c.err, c.kind, c.field) })
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
	refused(t, err, contextmem.ErrInvalid, "tenant_id")
}

func TestVectorsRefuseBadInput(t *testing.T) {
	t.Parallel()
	svc, acme := open(t, nil)
	raw := tenant(t, svc, contextmem.TenantSpec{ID: "raw", Embeddings: true, Dimension: 2})
	ctx := t.Context()
	one := []contextmem.RawVector{{ChunkID: "c", Vector: []float32{1, 0}}}
	vec := func(v ...float32) []contextmem.RawSource {
		return []contextmem.RawSource{{SourceID: "ok", Vectors: []contextmem.RawVector{{ChunkID: "ok", Vector: []float32{0, 1}}}}, {SourceID: "a", Vectors: []contextmem.RawVector{{ChunkID: "c", Vector: v}}}}
	}
	inf := float32(math.Inf(1))
	for name, c := range map[string]struct {
		in    []contextmem.RawSource
		field string
	}{
		"nothing":     {nil, "embeddings"},
		"no source":   {[]contextmem.RawSource{{Vectors: one}}, "embeddings[0].source_id"},
		"no vectors":  {[]contextmem.RawSource{{SourceID: "a"}}, "embeddings[0].embeddings"},
		"twice":       {[]contextmem.RawSource{{SourceID: "a", Vectors: one}, {SourceID: "a", Vectors: one}}, "embeddings[1].source_id"},
		"chunk twice": {[]contextmem.RawSource{{SourceID: "a", Vectors: one}, {SourceID: "b", Vectors: one}}, "embeddings[1].embeddings[0].chunk_id"},
		"no chunk":    {[]contextmem.RawSource{{SourceID: "a", Vectors: []contextmem.RawVector{{Vector: []float32{1, 0}}}}}, "chunk_id"},
		"short":       {vec(1), "embeddings[1].embeddings[0].embedding"},
		"long":        {vec(1, 2, 3), "embeddings[1].embeddings[0].embedding"},
		"zero":        {vec(0, 0), "embedding"},
		"infinite":    {vec(inf, 0), "embedding"},
		"NaN":         {vec(inf-inf, 0), "embedding"},
		"2001":        {[]contextmem.RawSource{{SourceID: "a", Vectors: manyVectors(2001)}}, "embeddings"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := raw.InsertVectors(ctx, contextmem.RawInsert{Sources: c.in})
			refused(t, err, contextmem.ErrUnprocessed, c.field)
			hits, err := raw.SearchVectors(ctx, contextmem.RawSearch{Vector: []float32{1, 1}})
			require.NoError(t, err)
			require.Empty(t, hits)
		})
	}
	for _, id := range []string{"a\x00", "\xff", strings.Repeat("x", 1025)} {
		_, err := raw.InsertVectors(ctx, contextmem.RawInsert{Sources: []contextmem.RawSource{{SourceID: id, Vectors: one}}})
		refused(t, err, contextmem.ErrInvalid, "source_id")
		_, err = raw.InsertVectors(ctx, contextmem.RawInsert{Sources: []contextmem.RawSource{{SourceID: "a", Vectors: []contextmem.RawVector{{ChunkID: id, Vector: []float32{1, 0}}}}}})
		refused(t, err, contextmem.ErrInvalid, "chunk_id")
	}
	_, err := raw.SearchVectors(ctx, contextmem.RawSearch{Vector: []float32{1}})
	refused(t, err, contextmem.ErrUnprocessed, "query_embedding")
	_, err = raw.SearchVectors(ctx, contextmem.RawSearch{Vector: []float32{1, 0}, Limit: 1001})
	refused(t, err, contextmem.ErrInvalid, "limit")
	_, err = raw.SearchVectors(ctx, contextmem.RawSearch{Vector: []float32{1, 0}, Metadata: map[string]any{"a": []any{marker}}})
	refused(t, err, contextmem.ErrInvalid, "filter_expr")
	_, err = raw.FilterVectors(ctx, contextmem.RawSelect{SourceID: "a", ChunkIDs: []string{"c"}}, 0)
	refused(t, err, contextmem.ErrInvalid, "source_id")
	_, err = raw.FilterVectors(ctx, contextmem.RawSelect{SourceID: "a"}, 10001)
	refused(t, err, contextmem.ErrInvalid, "limit")
	_, err = raw.DeleteVectors(ctx, contextmem.RawSelect{})
	refused(t, err, contextmem.ErrInvalid, "source_id")
	_, err = acme.InsertVectors(ctx, contextmem.RawInsert{Sources: vec(1, 2)})
	refused(t, err, contextmem.ErrInvalid, "tenant_id")
	_, err = raw.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "x"}}})
	refused(t, err, contextmem.ErrInvalid, "tenant_id")
	_, err = raw.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "a.txt", Data: []byte("x")}}})
	refused(t, err, contextmem.ErrInvalid, "tenant_id")
}

func manyVectors(n int) []contextmem.RawVector {
	out := make([]contextmem.RawVector, n)
	for i := range out {
		out[i] = contextmem.RawVector{ChunkID: "c" + strings.Repeat("x", i%1000) + strings.Repeat("y", i/1000), Vector: []float32{1, 0}}
	}
	return out
}

func TestOrganisationCallsRefuseBadInput(t *testing.T) {
	t.Parallel()
	svc, _ := open(t, nil)
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
		"feedback request":     {fb(func(f *contextmem.Feedback) { f.RequestID = "x" }), contextmem.ErrInvalid, "request_id"},
		"feedback nothing":     {fb(func(f *contextmem.Feedback) { f.Text = " \n" }), contextmem.ErrInvalid, "feedback"},
		"feedback long":        {fb(func(f *contextmem.Feedback) { f.Text = strings.Repeat("é", 8001) }), contextmem.ErrInvalid, "feedback"},
		"feedback NUL":         {fb(func(f *contextmem.Feedback) { f.Text = nul }), contextmem.ErrInvalid, "feedback"},
		"feedback answer":      {fb(func(f *contextmem.Feedback) { f.GroundTruth.Answer = badUTF8 }), contextmem.ErrInvalid, "ground_truth.answer"},
		"feedback ids":         {fb(func(f *contextmem.Feedback) { f.GroundTruth.SourceIDs = ids }), contextmem.ErrInvalid, "ground_truth.source_ids"},
		"feedback long id":     {fb(func(f *contextmem.Feedback) { f.GroundTruth.SourceIDs = []string{strings.Repeat("é", 257)} }), contextmem.ErrInvalid, "ground_truth.source_ids"},
		"feedback rating":      {fb(func(f *contextmem.Feedback) { f.Rating = "bad" }), contextmem.ErrInvalid, "rating"},
		"feedback source":      {fb(func(f *contextmem.Feedback) { f.Source = "bot" }), contextmem.ErrInvalid, "source"},
		"feedback sub":         {fb(func(f *contextmem.Feedback) { f.Sub = "s" }), contextmem.ErrInvalid, "collection"},
		"feedback long sub":    {fb(func(f *contextmem.Feedback) { f.Tenant, f.Sub = "acme", mega() }), contextmem.ErrInvalid, "collection"},
		"feedback tenant":      {fb(func(f *contextmem.Feedback) { f.Tenant = "nobody" }), contextmem.ErrNotFound, ""},
		"feedback pairs":       {fb(func(f *contextmem.Feedback) { f.Metadata = pairs }), contextmem.ErrInvalid, "metadata"},
		"feedback value":       {fb(func(f *contextmem.Feedback) { f.Metadata = map[string]string{"a": strings.Repeat(marker, 50)} }), contextmem.ErrInvalid, "metadata"},
		"feedback value bytes": {fb(func(f *contextmem.Feedback) { f.Metadata = map[string]string{"a": badUTF8} }), contextmem.ErrInvalid, "metadata"},
		"key env":              {key(contextmem.KeySpec{Env: "prod"}), contextmem.ErrInvalid, "env"},
		"key prefix":           {key(contextmem.KeySpec{Prefix: "a.b"}), contextmem.ErrInvalid, "prefix"},
		"key long prefix":      {key(contextmem.KeySpec{Prefix: strings.Repeat("a", 17)}), contextmem.ErrInvalid, "prefix"},
		"key scope":            {key(contextmem.KeySpec{Scopes: []contextmem.Scope{"root"}}), contextmem.ErrInvalid, "scopes"},
		"key tenant":           {key(contextmem.KeySpec{Tenants: []string{"../x"}}), contextmem.ErrInvalid, "tenant_id"},
		"key TTL":              {key(contextmem.KeySpec{TTL: -1}), contextmem.ErrInvalid, "ttl"},
		"key owner":            {key(contextmem.KeySpec{Owner: badUTF8}), contextmem.ErrInvalid, "owner"},
		"key revoke":           {svc.RevokeKey(ctx, "nothing"), contextmem.ErrNotFound, ""},
		"hook no url":          {hook(contextmem.WebhookSpec{}), contextmem.ErrInvalid, "url"},
		"hook http":            {hook(contextmem.WebhookSpec{URL: "http://hooks.example.com"}), contextmem.ErrInvalid, "url"},
		"hook local":           {hook(contextmem.WebhookSpec{URL: "https://127.1/"}), contextmem.ErrInvalid, "url"},
		"hook user":            {hook(contextmem.WebhookSpec{URL: "https://u:" + marker + "@hooks.example.com"}), contextmem.ErrInvalid, "url"},
		"hook events":          {hook(contextmem.WebhookSpec{URL: good, EventTypes: []string{}}), contextmem.ErrUnprocessed, "event_types"},
		"hook event":           {hook(contextmem.WebhookSpec{URL: good, EventTypes: []string{"x"}}), contextmem.ErrUnprocessed, "event_types"},
		"hook short secret":    {hook(contextmem.WebhookSpec{URL: good, Secret: "short"}), contextmem.ErrUnprocessed, "signing_secret"},
		"hook both":            {hook(contextmem.WebhookSpec{URL: good, Secret: marker + marker, GenerateSecret: true}), contextmem.ErrUnprocessed, "signing_secret"},
		"hook delete":          {svc.DeleteWebhook(ctx), contextmem.ErrNotFound, ""},
		"deliveries limit":     {page(contextmem.DeliveriesRequest{Limit: 101}), contextmem.ErrInvalid, "limit"},
		"deliveries status":    {page(contextmem.DeliveriesRequest{Status: "x"}), contextmem.ErrInvalid, "status"},
		"deliveries cursor":    {page(contextmem.DeliveriesRequest{Cursor: "c-1"}), contextmem.ErrInvalid, "cursor"},
		"deliveries cursor 2":  {page(contextmem.DeliveriesRequest{Cursor: "12"}), contextmem.ErrInvalid, "cursor"},
		"delivery retry":       {svc.RetryDelivery(ctx, "dlv_x"), contextmem.ErrNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) { refused(t, c.err, c.kind, c.field) })
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
