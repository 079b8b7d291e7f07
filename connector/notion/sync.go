package notion

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/internal/webapi"
)

// Notion rounds times of changes down to minutes, and its search shows changes with a delay.
const (
	overlap  = 10 * time.Minute
	settled  = 2 * time.Minute // a page may change again without another time
	maxKnown = 500             // pages of the overlap kept in the cursor; those beyond come again
	maxLists = 20              // listings in one call

	maxPresent  = 200_000          // pages of a database that are listed to find which are gone
	maxListWait = 10 * time.Second // for a single answer of that listing
)

// errNotListed ends a listing of which no conclusions can be drawn.
var errNotListed = errors.New("the listing is not complete")

// state is the cursor: Done is the newest change of complete rounds and Known the pages of the
// overlap before it. During a round Newest and Next are set: listings go on at Next.
type state struct {
	Version int       `json:"v"`
	Floor   time.Time `json:"f,omitzero"`
	Done    time.Time `json:"d,omitzero"`
	Known   []uint64  `json:"k,omitempty"`
	Newest  time.Time `json:"n,omitzero"`
	Fresh   []uint64  `json:"q,omitempty"` // Known of the round that is going on
	Next    string    `json:"c,omitempty"`
	Last    uint64    `json:"p,omitempty"` // page of the listing at Next that was handled last
	Listed  time.Time `json:"l,omitzero"`  // when all pages of a database were listed last
}

// run is one call of Sync.
type run struct {
	*client
	p     *Provider
	id    string
	typ   string
	limit int
	most  int // bytes of a page
	state state
	page  *connector.Page
}

// Sync implements connector.Provider. When the API asks for a pause in the middle, what was
// read until then is returned with More set; a call that reads nothing returns the
// *connector.RateLimited itself. Since bounds the first sync by the time of the last change.
func (p *Provider) Sync(ctx context.Context, r connector.SyncRequest) (*connector.Page, error) {
	cl, err := p.client(r.Credentials)
	if err != nil {
		return nil, err
	}
	s := &run{client: cl, p: p, id: compact(r.ResourceID), typ: r.Type, limit: webapi.Size(r.Limit, p.cfg.PageSize), most: webapi.AtMost(maxBodyBytes, r.MaxBytes), page: &connector.Page{}}
	if r.ResourceID == Workspace {
		s.id, s.typ = Workspace, Workspace
	}
	if s.id == "" || s.typ != Workspace && s.typ != TypePage && s.typ != TypeDatabase {
		return nil, errors.New("notion: the resource is not a database, a page or workspace")
	}
	if r.Cursor == "" {
		s.state = state{Version: webapi.CursorVersion, Floor: r.Since.UTC()}
	} else if err := webapi.ReadCursor(Name, r.Cursor, &s.state); err != nil {
		return nil, err
	}
	if s.typ == TypePage {
		err = s.single(ctx)
	} else {
		err = s.listings(ctx)
	}
	return webapi.Finish(s.page, s.state, err, len(s.page.Objects)+len(s.page.Deleted) > 0)
}

// single reads one page when it changed.
func (s *run) single(ctx context.Context) error {
	var o object
	now, err := s.call(ctx, "/v1/pages/"+s.id, nil, &o)
	if webapi.HasCode(err, "object_not_found") || err == nil && o.gone() {
		if !s.state.Done.IsZero() {
			s.page.Deleted = append(s.page.Deleted, s.id)
		}
		s.state = state{Version: webapi.CursorVersion}
		return nil
	}
	if err != nil {
		return err
	}
	at, ok := o.edited()
	if !ok || compact(o.ID) != s.id {
		return errors.New("notion: a page without id or time")
	}
	key := []uint64{fingerprint(&o)}
	if slices.Equal(key, s.state.Known) {
		return nil
	}
	if err := s.add(ctx, &o); err != nil {
		return err
	}
	if s.state.Done, s.state.Known = at, key; now.Sub(at) < settled {
		s.state.Known = nil
	}
	return nil
}

// listings reads from the newest change back to the end of the last round.
func (s *run) listings(ctx context.Context) error {
	for range maxLists {
		done, err := s.list(ctx)
		if webapi.HasCode(err, "validation_error") && s.state.Next != "" {
			// The API's cursor expired: begin the round again, which only repeats pages.
			s.state.Next, s.state.Last, s.state.Newest, s.state.Fresh = "", 0, time.Time{}, nil
			continue
		}
		if err != nil || done {
			return err
		}
		if len(s.page.Objects)+len(s.page.Deleted) >= s.limit {
			break
		}
	}
	s.page.More = true
	return nil
}

// list handles one answer and reports the end of the round.
func (s *run) list(ctx context.Context) (bool, error) {
	st := &s.state
	from := st.Floor
	if !st.Done.IsZero() {
		from = st.Done.Add(-overlap)
	}
	path, body := "/v1/search", map[string]any{"page_size": s.limit}
	if s.typ == TypeDatabase {
		path = "/v1/databases/" + s.id + "/query"
		body["sorts"] = []any{map[string]any{"timestamp": "last_edited_time", "direction": "descending"}}
		if !from.IsZero() {
			body["filter"] = map[string]any{"timestamp": "last_edited_time", "last_edited_time": map[string]any{"on_or_after": from.Truncate(time.Minute).Format(time.RFC3339)}}
		}
	} else {
		body["filter"] = map[string]any{"property": "object", "value": "page"}
		body["sort"] = map[string]any{"timestamp": "last_edited_time", "direction": "descending"}
	}
	if st.Next != "" {
		body["start_cursor"] = st.Next
	}
	var l listing
	now, err := s.call(ctx, path, body, &l)
	if err != nil {
		return false, err
	}
	// A page that was handled last and moved meanwhile is not found: then the listing is repeated.
	skip := slices.IndexFunc(l.Results, func(o object) bool { return st.Last != 0 && fingerprint(&o) == st.Last }) + 1
	end := false
	for i := range l.Results {
		o := &l.Results[i]
		at, ok := o.edited()
		if !ok || compact(o.ID) == "" {
			return false, errors.New("notion: a page without id or time")
		}
		if at.Before(from.Truncate(time.Minute)) {
			end = true
			break
		}
		if i < skip {
			continue
		}
		if len(s.page.Objects)+len(s.page.Deleted) >= s.limit {
			return false, nil
		}
		key := fingerprint(o)
		switch {
		case o.gone():
			s.page.Deleted = append(s.page.Deleted, compact(o.ID))
		case !slices.Contains(st.Known, key) && !slices.Contains(st.Fresh, key):
			if err := s.add(ctx, o); err != nil {
				return false, err
			}
		}
		if at.After(st.Newest) {
			st.Newest = at
		}
		if len(st.Fresh) < maxKnown && !slices.Contains(st.Fresh, key) && now.Sub(at) >= settled && !at.Before(st.Newest.Add(-overlap)) {
			st.Fresh = append(st.Fresh, key)
		}
		st.Last = key
	}
	if st.Last = 0; !end && l.next() != "" {
		st.Next = l.next()
		return false, nil
	}
	if st.Newest.After(st.Done) {
		st.Done = st.Newest
	}
	st.Known, st.Fresh, st.Newest, st.Next = st.Fresh, nil, time.Time{}, ""
	return true, s.listAll(ctx, now)
}

// listAll names all pages of a database, so that those which are gone can be told, when that is due at the time now. A
// pause that the API asks for is waited for, as far as it is short; else the listing is left for the next sync.
func (s *run) listAll(ctx context.Context, now time.Time) error {
	st := &s.state
	if s.typ != TypeDatabase || s.p.cfg.ListEvery < 0 {
		return nil
	}
	if st.Listed.IsZero() { // the first round has read them all
		st.Listed = now
		return nil
	}
	if now.Sub(st.Listed) < s.p.cfg.ListEvery {
		return nil
	}
	patient := *s.client.Client
	patient.MaxWait = maxListWait
	cl := client{&patient}
	var present []string
	err := webapi.Pages(ctx, func(ctx context.Context, cursor string) (string, bool, error) {
		// In the order in which they were made, which no change upsets.
		body := map[string]any{"page_size": s.p.cfg.PageSize, "sorts": []any{map[string]any{"timestamp": "created_time", "direction": "ascending"}}}
		if cursor != "" {
			body["start_cursor"] = cursor
		}
		var l listing
		if _, err := cl.call(ctx, "/v1/databases/"+s.id+"/query", body, &l); err != nil {
			return "", false, err
		}
		for i := range l.Results {
			o := &l.Results[i]
			id := compact(o.ID)
			if id == "" || len(present) >= maxPresent {
				return "", false, errNotListed
			}
			if !o.gone() {
				present = append(present, id)
			}
		}
		if l.HasMore && (l.Next == "" || l.Next == cursor) {
			return "", false, errNotListed
		}
		return l.next(), true, nil
	})
	if _, pause := errors.AsType[*connector.RateLimited](err); pause {
		return nil
	}
	if err != nil && !errors.Is(err, errNotListed) {
		return err
	}
	st.Listed = now
	if err == nil {
		s.page.Complete, s.page.Present = true, present
	}
	return nil
}

// fingerprint tells a page at a time of change from any other.
func fingerprint(o *object) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(compact(o.ID) + strings.TrimSpace(o.LastEdited)))
	return h.Sum64()
}
