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

// Notion rounds change times down to minutes, and its search shows changes with a delay.
const (
	overlap  = 10 * time.Minute
	settled  = 2 * time.Minute // within this time, a page may change again with the same change time
	maxKnown = 500             // maximum known pages in the cursor; pages beyond it are read again
	maxLists = 20              // maximum listing requests per Sync call

	maxPresent  = 200_000          // maximum pages in a full listing of a database
	maxListWait = 10 * time.Second // longest rate-limit pause within a full listing
)

// errNotListed ends a full listing that cannot be used to find deleted pages.
var errNotListed = errors.New("the listing is not complete")

// state is the cursor. Done is the newest change time of completed rounds. Known holds the pages of the overlap before Done.
// Newest and Next are set during a round; the listing continues at Next.
type state struct {
	Version int       `json:"v"`
	Floor   time.Time `json:"f,omitzero"`
	Done    time.Time `json:"d,omitzero"`
	Known   []uint64  `json:"k,omitempty"`
	Newest  time.Time `json:"n,omitzero"`
	Fresh   []uint64  `json:"q,omitempty"` // Known of the present round
	Next    string    `json:"c,omitempty"`
	Last    uint64    `json:"p,omitempty"` // last handled page of the listing at Next
	Listed  time.Time `json:"l,omitzero"`  // time of the last full listing of a database
}

// run is one Sync call.
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

// Sync implements connector.Provider. When the API asks for a pause in the middle, Sync returns the pages read so far, with
// More set. If it has read nothing, it returns the *connector.RateLimited. Since bounds the first sync by change time.
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

// single reads one page if it has changed.
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

// listings reads from the newest change back to the end of the previous round.
func (s *run) listings(ctx context.Context) error {
	for range maxLists {
		done, err := s.list(ctx)
		if webapi.HasCode(err, "validation_error") && s.state.Next != "" {
			// The API's cursor has expired. Restart the round, which only repeats pages.
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

// list handles one answer of the listing and reports whether the round is complete.
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
	// If the last handled page has changed meanwhile, it is not found here, and the listing is repeated.
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

// listAll lists all pages of a database in Present if a full listing is due at now, so that deleted pages are found. It waits for
// short rate-limit pauses. After a longer one, it leaves the full listing to the next sync.
func (s *run) listAll(ctx context.Context, now time.Time) error {
	st := &s.state
	if s.typ != TypeDatabase || s.p.cfg.ListEvery < 0 {
		return nil
	}
	if st.Listed.IsZero() { // the first round has read all pages
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
		// Sort by creation time, because edits do not change that order.
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

// fingerprint returns a hash of a page's id and change time.
func fingerprint(o *object) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(compact(o.ID) + strings.TrimSpace(o.LastEdited)))
	return h.Sum64()
}
