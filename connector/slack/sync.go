package slack

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/internal/webapi"
)

const (
	maxCalls = 50 // maximum listing requests per Sync call
	lateness = stamp(2 * time.Second / time.Microsecond)
	ahead    = stamp(time.Minute / time.Microsecond)
)

// run is one Sync call.
type run struct {
	*client
	p     *Provider
	id    string
	name  string
	site  string // https://team.slack.com/
	team  string
	limit int
	text  int // bytes of one text
	state state
	page  *connector.Page
}

// Sync implements connector.Provider. It reads one page of the channel at a time, then the new or grown threads of that page.
// When the API asks for a pause in the middle, Sync returns the messages read so far, with More set. If it has read nothing,
// it returns the *connector.RateLimited. A call may exceed r.Limit by one page of replies.
func (p *Provider) Sync(ctx context.Context, r connector.SyncRequest) (*connector.Page, error) {
	cl, err := p.client(r.Credentials)
	if err != nil {
		return nil, err
	}
	if !isID(r.ResourceID) {
		return nil, errors.New("slack: the resource is not the id of a channel")
	}
	s := &run{client: cl, p: p, id: r.ResourceID, limit: webapi.Size(r.Limit, p.cfg.PageSize), text: webapi.AtMost(maxTextBytes, r.MaxBytes), page: &connector.Page{}}
	if r.Cursor == "" {
		s.state = state{Version: webapi.CursorVersion, Floor: stampOf(r.Since)}
	} else if err := webapi.ReadCursor(Name, r.Cursor, &s.state); err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	read := false
	s.page.More = true
	for range maxCalls {
		var done bool
		if done, err = s.step(ctx); err != nil {
			break
		}
		read = true
		if done {
			s.page.More = false
			break
		}
		if len(s.page.Objects)+len(s.page.Deleted) >= s.limit {
			break
		}
	}
	return webapi.Finish(s.page, s.state, err, read)
}

// begin looks up the workspace, and starts a round if none is in progress.
func (s *run) begin(ctx context.Context) error {
	var w workspace
	now, err := s.call(ctx, "auth.test", nil, &w)
	if err != nil {
		return err
	}
	s.team = w.Team
	if u, err := url.Parse(w.URL); err == nil && u.Scheme == "https" && u.Host != "" {
		s.site = "https://" + u.Host
	}
	var info struct {
		envelope
		Channel channel `json:"channel"`
	}
	if _, err := s.call(ctx, "conversations.info", url.Values{"channel": {s.id}}, &info); err != nil && !webapi.HasCode(err, "missing_scope") {
		return err
	}
	if s.name = webapi.Clip(info.Channel.Name, 200); s.name == "" {
		s.name = s.id
	}
	st := &s.state
	if st.Start != 0 {
		return nil
	}
	st.Start = stampOf(now)
	st.Latest = st.Start + ahead
	st.Oldest = st.Floor
	if st.High != 0 {
		st.Oldest = max(st.Floor, min(st.High, s.windowStart()))
	}
	return nil
}

func (s *run) windowStart() stamp {
	return max(s.state.Start-stamp(s.p.cfg.Window/time.Microsecond), 0)
}

// step reads one page, of a pending thread or of the channel, and reports whether the round is complete.
func (s *run) step(ctx context.Context) (bool, error) {
	st := &s.state
	switch {
	case len(st.Threads) > 0:
		if err := s.replies(ctx); err != nil {
			return false, err
		}
	case !st.Read:
		if err := s.history(ctx); err != nil {
			return false, err
		}
	}
	if !st.Read || len(st.Threads) > 0 {
		return false, nil
	}
	st.High, st.Mark = max(st.High, st.Top), max(st.Start-lateness, 0)
	st.Recent.forget(s.windowStart())
	st.Start, st.Oldest, st.Latest, st.Top, st.Read = 0, 0, 0, 0, false
	return true, nil
}

// listing is one page of messages.
type listing struct {
	envelope
	Messages []message `json:"messages"`
	HasMore  bool      `json:"has_more"`
}

// history reads one page of the channel. It continues from the oldest message of the previous page, because the API's own
// cursor expires.
func (s *run) history(ctx context.Context) error {
	st := &s.state
	var l listing
	args := url.Values{"channel": {s.id}, "limit": {strconv.Itoa(s.limit)}, "oldest": {st.Oldest.String()}, "latest": {st.Latest.String()}, "inclusive": {"false"}}
	if _, err := s.call(ctx, "conversations.history", args, &l); err != nil {
		return err
	}
	var objects []connector.Object
	var gone []string
	var threads []thread
	var present []stamp
	from, top := st.Oldest, st.Top
	more := (l.HasMore || l.Metadata.NextCursor != "") && len(l.Messages) > 0
	if more {
		from = st.Latest
	}
	for i := range l.Messages {
		m := &l.Messages[i]
		at, ok := parseStamp(m.TS)
		if !ok {
			return errors.New("slack: a message without a time stamp")
		}
		top = max(top, at)
		if more {
			from = min(from, at)
		}
		fresh := at > st.High
		if edited, _ := parseStamp(m.Edited.TS); m.shown() {
			present = append(present, at)
			if fresh || edited > st.Mark {
				o, err := s.object(ctx, m, at)
				if err != nil {
					return err
				}
				objects = append(objects, o...)
			}
		}
		if m.ReplyCount > 0 && (m.ThreadTS == "" || m.ThreadTS == m.TS) {
			if last, ok := parseStamp(m.LatestReply); fresh {
				threads = append(threads, thread{Root: at})
			} else if ok && last > st.Mark {
				threads = append(threads, thread{Root: at, After: st.Mark})
			}
		}
	}
	if more && from >= st.Latest {
		return errors.New("slack: the listing does not go on")
	}
	// All messages in the page's range are known now. The lowest message itself is present.
	bound := from
	if more {
		bound--
	}
	for _, at := range st.Recent.replace(bound, st.Latest, recentOf(present, s.windowStart())) {
		gone = append(gone, s.external(at))
	}
	s.page.Objects = append(s.page.Objects, objects...)
	s.page.Deleted = append(s.page.Deleted, gone...)
	st.Threads, st.Top, st.Latest, st.Read = threads, top, from, !more
	return nil
}

func recentOf(all []stamp, from stamp) []stamp {
	return slices.DeleteFunc(all, func(s stamp) bool { return s < from })
}

// replies reads one page of the first pending thread. Replies come oldest first.
func (s *run) replies(ctx context.Context) error {
	t := &s.state.Threads[0]
	var l listing
	args := url.Values{"channel": {s.id}, "ts": {t.Root.String()}, "limit": {strconv.Itoa(s.p.cfg.PageSize)}, "oldest": {t.After.String()}, "inclusive": {"false"}}
	_, err := s.call(ctx, "conversations.replies", args, &l)
	if webapi.HasCode(err, "thread_not_found", "message_not_found") { // deleted meanwhile
		s.state.Threads = s.state.Threads[1:]
		return nil
	}
	if err != nil {
		return err
	}
	var objects []connector.Object
	last := t.After
	for i := range l.Messages {
		m := &l.Messages[i]
		at, ok := parseStamp(m.TS)
		if !ok {
			return errors.New("slack: a message without a time stamp")
		}
		// Each page begins with the thread's first message. The channel's listing contains replies that were also sent to the channel.
		if at == t.Root || at <= t.After {
			continue
		}
		last = max(last, at)
		if !m.shown() || m.Subtype == "thread_broadcast" {
			continue
		}
		o, err := s.object(ctx, m, at)
		if err != nil {
			return err
		}
		objects = append(objects, o...)
	}
	s.page.Objects = append(s.page.Objects, objects...)
	if (l.HasMore || l.Metadata.NextCursor != "") && last > t.After {
		t.After = last
		return nil
	}
	s.state.Threads = s.state.Threads[1:]
	return nil
}
