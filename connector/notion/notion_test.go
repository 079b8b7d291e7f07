package notion_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/notion"
)

var (
	good = connector.Credentials{"token": "ntn_secret"}
	day  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	db   = id(999)
)

func id(n int) string { return fmt.Sprintf("%032x", n) }

type page struct {
	edited   time.Time
	archived bool
}

// fake implements the parts of the API that the provider uses.
type fake struct {
	*httptest.Server
	mu     sync.Mutex
	pages  map[string]page
	blocks map[string][]map[string]any
	reads  []string // pages whose blocks were asked for
	calls  int
	sorted string // what the last query sorted by
	refuse func(w http.ResponseWriter, r *http.Request) bool
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{pages: map[string]page{}, blocks: map[string][]map[string]any{}}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func rich(s string) []any { return []any{map[string]any{"plain_text": s}} }

func (f *fake) object(k string) map[string]any {
	p := f.pages[k]
	return map[string]any{"object": "page", "id": k[:8] + "-" + k[8:12] + "-" + k[12:16] + "-" + k[16:20] + "-" + k[20:], "url": "https://notion.example/" + k, "created_time": "2026-01-01T00:00:00.000Z",
		"last_edited_time": p.edited.Truncate(time.Minute).Format("2006-01-02T15:04:05.000Z"), "archived": p.archived, "parent": map[string]any{"type": "page_id", "page_id": db}, "created_by": map[string]any{"id": "u1"},
		"properties": map[string]any{"Name": map[string]any{"type": "title", "title": rich("Title " + k[30:])}, "Stage": map[string]any{"type": "select", "select": map[string]any{"name": "Draft"}}}}
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++ // each of them takes a second
	w.Header().Set("Date", time.Now().Add(time.Duration(f.calls)*time.Second).UTC().Format(http.TimeFormat))
	if r.Header.Get("Authorization") != "Bearer ntn_secret" || r.Header.Get("Notion-Version") == "" {
		http.Error(w, `{"code":"unauthorized"}`, http.StatusUnauthorized)
		return
	}
	var body struct {
		Sorts []struct {
			Timestamp string `json:"timestamp"`
		} `json:"sorts"`
		Start  string `json:"start_cursor"`
		Size   int    `json:"page_size"`
		Filter struct {
			Edited struct {
				From time.Time `json:"on_or_after"`
			} `json:"last_edited_time"`
		} `json:"filter"`
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	f.sorted = ""
	if len(body.Sorts) > 0 {
		f.sorted = body.Sorts[0].Timestamp
	}
	if f.refuse != nil && f.refuse(w, r) {
		return
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var all []any
	switch {
	case r.URL.Path == "/v1/users/me":
		fmt.Fprint(w, `{"object":"user"}`)
		return
	case parts[1] == "pages":
		if _, ok := f.pages[parts[2]]; !ok {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"code":"object_not_found"}`)
			return
		}
		_ = json.NewEncoder(w).Encode(f.object(parts[2]))
		return
	case parts[1] == "blocks":
		f.reads = append(f.reads, parts[2])
		for _, b := range f.blocks[parts[2]] {
			all = append(all, b)
		}
		body.Start = r.URL.Query().Get("start_cursor")
		body.Size, _ = strconv.Atoi(r.URL.Query().Get("page_size"))
	default:
		var keys []string
		for k, p := range f.pages {
			if !p.archived && !p.edited.Truncate(time.Minute).Before(body.Filter.Edited.From) {
				keys = append(keys, k)
			}
		}
		sort.Slice(keys, func(i, j int) bool {
			a, b := f.pages[keys[i]].edited.Truncate(time.Minute), f.pages[keys[j]].edited.Truncate(time.Minute)
			return a.After(b) || a.Equal(b) && keys[i] < keys[j]
		})
		for _, k := range keys {
			all = append(all, f.object(k))
		}
	}
	at := 0
	if body.Start != "" {
		var err error
		if at, err = strconv.Atoi(body.Start); err != nil || at > len(all) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"code":"validation_error"}`)
			return
		}
	}
	end := min(at+max(body.Size, 1), len(all))
	out := map[string]any{"results": append([]any{}, all[at:end]...), "has_more": end < len(all), "next_cursor": nil}
	if end < len(all) {
		out["next_cursor"] = strconv.Itoa(end)
	}
	_ = json.NewEncoder(w).Encode(out)
}

func open(f *fake) *notion.Provider { return notion.New(notion.Config{BaseURL: f.URL, PageSize: 4}) }

func drain(t *testing.T, f *fake, r connector.SyncRequest) (ids, deleted []string, last map[string]*contextmem.AppItem, cursor string) {
	t.Helper()
	last = map[string]*contextmem.AppItem{}
	r.Credentials = good
	for range 100 {
		p, err := open(f).Sync(t.Context(), r)
		require.NoError(t, err)
		for _, o := range p.Objects {
			ids = append(ids, o.ExternalID)
			last[o.ExternalID] = o.App
		}
		deleted = append(deleted, p.Deleted...)
		if r.Cursor = p.Cursor; !p.More {
			return ids, deleted, last, r.Cursor
		}
	}
	t.Fatal("sync does not end")
	return nil, nil, nil, ""
}

func TestPageAsMarkdown(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.pages[id(1)] = page{edited: day}
	bl := func(typ, s string, more ...any) map[string]any {
		c := map[string]any{"rich_text": rich(s)}
		b := map[string]any{"id": id(50), "type": typ, typ: c}
		for i := 0; i+1 < len(more); i += 2 {
			b[more[i].(string)] = more[i+1]
		}
		return b
	}
	f.blocks[id(1)] = []map[string]any{bl("heading_2", "Plan"), bl("paragraph", "Words."), bl("numbered_list_item", "one"), bl("numbered_list_item", "two", "has_children", true, "id", id(60)),
		bl("code", "x := 1"), bl("table", "", "has_children", true, "id", id(61)), {"id": id(7), "type": "child_page", "child_page": map[string]any{"title": "Sub"}, "has_children": true}}
	f.blocks[id(60)] = []map[string]any{bl("bulleted_list_item", "inner")}
	f.blocks[id(61)] = []map[string]any{{"type": "table_row", "table_row": map[string]any{"cells": []any{rich("a"), rich("b")}}}, {"type": "table_row", "table_row": map[string]any{"cells": []any{rich("1"), rich("2")}}}}
	_, _, last, cursor := drain(t, f, connector.SyncRequest{ResourceID: id(1), Type: "page"})
	a := last[id(1)]
	require.NotNil(t, a)
	assert.Equal(t, "Title 01", a.Title)
	assert.Equal(t, db, a.Fields["parent_id"])
	assert.Equal(t, "- Stage: Draft\n\n## Plan\n\nWords.\n\n1. one\n2. two\n  - inner\n```\nx := 1\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n- Sub", a.Fields["body"])
	require.NotNil(t, a.ForcefulRelations)
	assert.Equal(t, id(7), a.ForcefulRelations.Links[0].ExternalID)

	_, _, last, _ = drain(t, f, connector.SyncRequest{ResourceID: id(1), Type: "page", MaxBytes: 38})
	assert.Equal(t, "- Stage: Draft\n\n## Plan\n\nWords.", last[id(1)].Fields["body"])
	assert.Equal(t, true, last[id(1)].Additional["truncated"])

	ids, deleted, _, cursor := drain(t, f, connector.SyncRequest{ResourceID: id(1), Type: "page", Cursor: cursor})
	assert.Empty(t, ids)
	assert.Empty(t, deleted)
	f.pages[id(1)] = page{edited: day, archived: true}
	_, deleted, _, _ = drain(t, f, connector.SyncRequest{ResourceID: id(1), Type: "page", Cursor: cursor})
	assert.Equal(t, []string{id(1)}, deleted)
}

func TestOnlyWhatChangedIsReadAgain(t *testing.T) {
	t.Parallel()
	for _, r := range []connector.SyncRequest{{ResourceID: db, Type: "database"}, {ResourceID: "workspace"}} {
		t.Run(r.ResourceID, func(t *testing.T) {
			f := newFake(t)
			for i := 1; i <= 14; i++ {
				f.pages[id(i)] = page{edited: day.Add(time.Duration(i/4) * time.Minute)}
			}
			r.Limit = 3
			ids, _, last, cursor := drain(t, f, r)
			assert.Len(t, ids, 14)
			assert.Len(t, last, 14)
			f.reads = nil
			r.Cursor = cursor
			ids, _, _, r.Cursor = drain(t, f, r)
			assert.Empty(t, ids)
			assert.Empty(t, f.reads)
			f.pages[id(5)] = page{edited: day.Add(time.Hour)}
			f.pages[id(20)] = page{edited: day.Add(2 * time.Minute)} // shown late by the search
			ids, _, _, _ = drain(t, f, r)
			assert.ElementsMatch(t, []string{id(5), id(20)}, ids)
			r.Cursor, r.Since = "", day.Add(time.Hour)
			ids, _, _, _ = drain(t, f, r)
			assert.Equal(t, []string{id(5)}, ids)
		})
	}
}

func TestPauseAndExpiredCursorLoseNothing(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for i := 1; i <= 9; i++ {
		f.pages[id(i)] = page{edited: day.Add(-time.Duration(i) * time.Minute)}
	}
	f.refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, id(7)) {
			return false
		}
		w.Header().Set("Retry-After", "9")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	r := connector.SyncRequest{ResourceID: db, Type: "database", Credentials: good}
	seen := map[string]bool{}
	var err error
	for range 5 {
		var p *connector.Page
		if p, err = open(f).Sync(t.Context(), r); err != nil {
			break
		}
		for _, o := range p.Objects {
			seen[o.ExternalID] = true
		}
		r.Cursor = p.Cursor
	}
	var limited *connector.RateLimited
	require.ErrorAs(t, err, &limited)
	assert.Equal(t, 9*time.Second, limited.After)
	assert.Len(t, seen, 6)
	f.refuse = nil
	ids, _, _, _ := drain(t, f, r)
	assert.Equal(t, []string{id(7), id(8), id(9)}, ids)
	ids, _, _, _ = drain(t, f, connector.SyncRequest{ResourceID: db, Type: "database", Cursor: `{"v":1,"c":"expired"}`})
	assert.Len(t, ids, 9)
}

func TestRefusalsAndBadAnswers(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	p := open(f)
	assert.NoError(t, p.Check(t.Context(), good))
	err := p.Check(t.Context(), connector.Credentials{"token": "ntn_gone"})
	assert.ErrorIs(t, err, connector.ErrReauth)
	assert.NotContains(t, err.Error(), "ntn_")
	assert.ErrorIs(t, p.Check(t.Context(), nil), connector.ErrBadCredentials)
	f.pages[id(1)] = page{edited: day}
	rs, _, err := p.Discover(t.Context(), good, "", 10)
	require.NoError(t, err)
	require.Len(t, rs, 2)
	assert.Equal(t, id(1), rs[1].ID)
	for _, body := range []string{"", `{"results":[{`, `[]`, `{"results":[{"object":"page"}]}`} {
		t.Run(body, func(t *testing.T) {
			f.refuse = func(w http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(w, body); return true }
			_, err := p.Sync(t.Context(), connector.SyncRequest{ResourceID: db, Type: "database", Credentials: good})
			assert.Error(t, err, body)
		})
	}
	_, err = p.Sync(t.Context(), connector.SyncRequest{ResourceID: "../users", Type: "page", Credentials: good})
	assert.Error(t, err)
	assert.True(t, json.Valid(p.Describe().CredentialSchema))
}
