package imap

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"time"

	goimap "github.com/emersion/go-imap/v2"

	"github.com/contextmem/contextmem/connector"
)

const (
	pageMails          = 200      // maximum number of mails per Sync call
	pageBytes    int64 = 16 << 20 // bytes after which the next page begins
	commandBytes int64 = 4 << 20  // maximum bytes requested by one command
	maxPresent         = 2_000_000
)

// state is the cursor of a mailbox. All mails with a UID below Next were read.
type state struct {
	Version  int        `json:"v"`
	Validity uint32     `json:"u"`
	Next     goimap.UID `json:"n"`
	Count    uint32     `json:"c,omitempty"` // mails in the mailbox at the end of the previous round
	Seen     uint32     `json:"s,omitempty"` // new mails in the present round
	Floor    time.Time  `json:"f,omitzero"`  // Since of the first sync, until that sync is complete
}

// mail is a mail to read.
type mail struct {
	uid  goimap.UID
	size int64
	at   time.Time // when the server received the mail
	body []byte
	cut  bool
}

// Sync implements connector.Provider. Since bounds the first sync by the day on which the server received a mail. When the
// server asks for a pause in the middle, Sync returns the mails read so far, with More set.
func (p *Provider) Sync(ctx context.Context, r connector.SyncRequest) (*connector.Page, error) {
	var st state
	if r.Cursor == "" {
		st = state{Version: 1, Next: 1, Floor: r.Since.UTC()}
	} else if json.Unmarshal([]byte(r.Cursor), &st) != nil || st.Version != 1 || st.Next == 0 {
		return nil, errors.New("imap: the cursor is not valid")
	}
	if r.ResourceID == "" {
		return nil, errors.New("imap: the resource is not the name of a mailbox")
	}
	s, err := p.connect(ctx, r.Credentials)
	if err != nil {
		return nil, err
	}
	defer s.end()
	box, err := s.client.Select(r.ResourceID, &goimap.SelectOptions{ReadOnly: true}).Wait()
	if err != nil {
		return nil, s.failure("open mailbox", err)
	}
	if box.UIDValidity == 0 {
		return nil, errors.New("imap: the server keeps no lasting numbers of mails")
	}
	renumbered := st.Validity != 0 && st.Validity != box.UIDValidity
	if renumbered { // UIDs have new meanings, so read all mails and remove the old ones
		st = state{Version: 1, Next: 1}
	}
	st.Validity = box.UIDValidity
	y := &syncing{session: s, p: p, r: r, state: st, total: box.NumMessages, page: &connector.Page{}}
	if err := y.run(box.UIDNext, renumbered); err != nil {
		if _, pause := errors.AsType[*connector.RateLimited](err); !pause || len(y.page.Objects) == 0 {
			return nil, err
		}
		y.page.More = true
	}
	cursor, err := json.Marshal(y.state)
	if err != nil {
		return nil, err
	}
	y.page.Cursor = string(cursor)
	return y.page, nil
}

// syncing is one Sync call on an open mailbox.
type syncing struct {
	*session
	p     *Provider
	r     connector.SyncRequest
	state state
	total uint32 // mails in the mailbox
	page  *connector.Page
}

func (y *syncing) external(uid goimap.UID) string {
	return strconv.FormatUint(uint64(y.state.Validity), 10) + "." + strconv.FormatUint(uint64(uid), 10)
}

// run reads the new mails. If the mail count then shows that old mails are gone, it lists all mails.
func (y *syncing) run(next goimap.UID, renumbered bool) error {
	st := &y.state
	if next != 0 && next <= st.Next && y.total == st.Count && !renumbered {
		return nil // no mail was added or removed
	}
	fresh, err := y.search(st.Next, st.Floor)
	if err != nil {
		return err
	}
	whole := st.Floor.IsZero() && uint64(y.total) == uint64(st.Count)+uint64(st.Seen)+uint64(len(fresh)) // no mail was removed
	limit := pageMails
	if y.r.Limit > 0 {
		limit = min(limit, y.r.Limit)
	}
	y.page.More = len(fresh) > limit
	fresh = fresh[:min(len(fresh), limit)]
	mails, err := y.sizes(fresh)
	if err != nil {
		return err
	}
	var sum int64
	for i, m := range mails {
		if sum += min(m.size, y.most()); sum > pageBytes && i > 0 {
			mails, fresh, y.page.More = mails[:i], fresh[:slices.Index(fresh, m.uid)], true
			break
		}
	}
	for len(mails) > 0 {
		n, size := 0, int64(0)
		for n < len(mails) && (n == 0 || size+mails[n].size <= commandBytes) {
			size += mails[n].size
			n++
		}
		if err := y.read(mails[:n]); err != nil {
			return err
		}
		st.Next = mails[n-1].uid + 1
		mails = mails[n:]
	}
	if len(fresh) > 0 {
		st.Next, st.Seen = fresh[len(fresh)-1]+1, st.Seen+uint32(len(fresh))
	}
	if !y.page.More {
		st.Next = max(st.Next, next)
		st.Floor, st.Seen, st.Count = time.Time{}, 0, y.total
	}
	if renumbered || !whole && !y.page.More {
		return y.list()
	}
	return nil
}

// list lists all mails in Present, so that removed mails can be detected.
func (y *syncing) list() error {
	all, err := y.search(1, time.Time{})
	if err != nil {
		return err
	}
	if len(all) > maxPresent {
		return errors.New("imap: the mailbox holds more than 2000000 mails")
	}
	y.page.Complete, y.page.Present = true, make([]string, len(all))
	for i, uid := range all {
		y.page.Present[i] = y.external(uid)
	}
	if known, _ := slices.BinarySearch(all, y.state.Next); !y.page.More {
		y.state.Count = uint32(known)
	}
	return nil
}

// search returns, in ascending order, the UIDs at or above from of mails received since a day.
func (y *syncing) search(from goimap.UID, since time.Time) ([]goimap.UID, error) {
	var set goimap.UIDSet
	set.AddRange(from, 0) // up to the last mail, which the answer names even if its UID is below from
	c := &goimap.SearchCriteria{UID: []goimap.UIDSet{set}}
	if !since.IsZero() {
		c.Since = since.AddDate(0, 0, -1) // the server's time zone may differ
	}
	found, err := y.client.UIDSearch(c, nil).Wait()
	if err != nil {
		return nil, y.failure("search", err)
	}
	uids := slices.DeleteFunc(found.AllUIDs(), func(u goimap.UID) bool { return u < from })
	slices.Sort(uids)
	return slices.Compact(uids), nil
}

// sizes requests the sizes of mails. It leaves out mails that were removed meanwhile.
func (y *syncing) sizes(uids []goimap.UID) ([]mail, error) {
	if len(uids) == 0 {
		return nil, nil
	}
	cmd := y.client.Fetch(goimap.UIDSetNum(uids...), &goimap.FetchOptions{UID: true, RFC822Size: true, InternalDate: true})
	var mails []mail
	for data := cmd.Next(); data != nil; data = cmd.Next() {
		m, err := data.Collect()
		if err == nil && slices.Contains(uids, m.UID) {
			mails = append(mails, mail{uid: m.UID, size: max(m.RFC822Size, 0), at: m.InternalDate})
		}
	}
	if err := cmd.Close(); err != nil {
		return nil, y.failure("list mails", err)
	}
	slices.SortFunc(mails, func(a, b mail) int { return int(int64(a.uid) - int64(b.uid)) })
	return slices.CompactFunc(mails, func(a, b mail) bool { return a.uid == b.uid }), nil
}

// most returns the number of bytes to read of a mail.
func (y *syncing) most() int64 {
	if y.r.MaxBytes > 0 {
		return min(y.r.MaxBytes, y.p.cfg.MaxMessageBytes)
	}
	return y.p.cfg.MaxMessageBytes
}

// read fetches mails with one command and adds them to the page.
func (y *syncing) read(mails []mail) error {
	most := y.most()
	section := &goimap.FetchItemBodySection{Peek: true}
	if len(mails) == 1 && mails[0].size > most {
		section.Partial = &goimap.SectionPartial{Size: most}
		y.conn.left.Add(most - mails[0].size)
	}
	by := map[goimap.UID]*mail{}
	var set goimap.UIDSet
	for i := range mails {
		by[mails[i].uid] = &mails[i]
		set.AddNum(mails[i].uid)
		y.conn.left.Add(mails[i].size + 4096)
	}
	cmd := y.client.Fetch(set, &goimap.FetchOptions{UID: true, BodySection: []*goimap.FetchItemBodySection{section}})
	for data := cmd.Next(); data != nil; data = cmd.Next() {
		var uid goimap.UID
		var body []byte
		for item := data.Next(); item != nil; item = data.Next() {
			switch item := item.(type) {
			case goimapUID:
				uid = item.UID
			case goimapBody:
				if item.Literal != nil && body == nil {
					body, _ = io.ReadAll(io.LimitReader(item.Literal, most)) // the command reports this error too
				}
			}
		}
		if m := by[uid]; m != nil {
			m.body, m.cut = body, m.size > int64(len(body)) && int64(len(body)) == most
		}
	}
	if err := cmd.Close(); err != nil {
		return y.failure("read mails", err)
	}
	for i := range mails {
		m := &mails[i]
		if m.body == nil {
			continue // expunged meanwhile
		}
		app, err := y.item(m)
		if err != nil {
			return err
		}
		m.body = nil
		y.page.Objects = append(y.page.Objects, connector.Object{ExternalID: y.external(m.uid), App: app})
	}
	return nil
}
