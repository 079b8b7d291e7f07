package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/client"
	"github.com/contextmem/contextmem/fault"
)

// changes is servers over one deployment, with what their clients know of it.
type changes struct {
	t      *testing.T
	dir    string // of the only server
	seat   *seat  // the first server, or the only one
	seats  []*seat
	client *client.Client // of the first server; repeats no call
	places []*place

	partial atomic.Int64 // recalls that missed a memory and said that they were partial

	mu           sync.Mutex
	foes         []string // promises that were broken
	acked        map[string]int
	done, undone map[string]int // calls without an answer, by kind
	wanted       string         // kind of call that the test waits for
	sent         chan struct{}
}

// changeKinds are the kinds of calls that are killed in turns.
var changeKinds = []string{"update", "delete", "edit", "restore", "supersede", "undo", "add"}

func newChanges(t *testing.T) *changes {
	dir := t.TempDir()
	c := changesOn(t, seatOn(t, dir, "--judge", "none"))
	c.dir = dir
	return c
}

func changesOn(t *testing.T, seats ...*seat) *changes {
	c := &changes{t: t, seat: seats[0], seats: seats, acked: map[string]int{}, done: map[string]int{}, undone: map[string]int{}}
	c.client = c.clientOf(c.seat)
	c.makeTenant("main")
	return c
}

// clientOf returns a client of a server that repeats no call.
func (c *changes) clientOf(s *seat) *client.Client {
	cl, err := client.New("http://"+s.addr, "k", &client.Options{Retries: -1})
	require.NoError(c.t, err)
	return cl
}

func (c *changes) makeTenant(id string) {
	require.NoError(c.t, c.client.CreateTenant(c.t.Context(), contextmem.TenantSpec{ID: id}))
	require.NoError(c.t, c.client.Tenant(id).WaitReady(c.t.Context()))
}

func (c *changes) foe(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.foes = append(c.foes, fmt.Sprintf(format, args...))
}

func (c *changes) failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.foes) > 0
}

// awaitCall returns when a client sends a call of a kind, or after two seconds.
func (c *changes) awaitCall(kind string) {
	sent := make(chan struct{})
	c.mu.Lock()
	c.wanted, c.sent = kind, sent
	c.mu.Unlock()
	select {
	case <-sent:
	case <-time.After(2 * time.Second):
	}
}

// sends says that a call of a kind is sent now.
func (c *changes) sends(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wanted == kind {
		close(c.sent)
		c.wanted = ""
	}
}

func (c *changes) count(of map[string]int, kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of[kind]++
}

// noAnswer is the error of a call that got no answer.
type noAnswer struct{ error }

// Unwrap returns the cause.
func (n noAnswer) Unwrap() error { return n.error }

// unanswered reports whether a call got no answer, or was told that the storage can't answer, which may be after it has stored something.
func unanswered(err error) bool {
	var n noAnswer
	return errors.As(err, &n) || client.Lost(err) || errors.Is(err, fault.ErrUnavailable)
}

// ask makes a call for the sub-tenant and decodes the data of its answer into to.
func (p *place) ask(method, path string, body map[string]any, to any) error {
	if body != nil {
		body["database"], body["collection"] = "main", p.name
	} else {
		path += "&database=main&collection=" + p.name
	}
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.c.t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+p.seat.addr+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer k")
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return noAnswer{err}
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return noAnswer{err}
	}
	if res.StatusCode == http.StatusServiceUnavailable {
		return noAnswer{fmt.Errorf("%s %s: status 503: %s", method, path, answer)}
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: status %d: %s", method, path, res.StatusCode, answer)
	}
	return json.Unmarshal(answer, &struct{ Data any }{to})
}

// kept is what a memory has to be.
type kept struct {
	text  string // text of the newest version
	past  string // texts of the earlier versions, the newest first
	group string
	mark  string
	by    string // id of the memory that a caller said took its place
}

// replaced returns the memory with a new version.
func (k kept) replaced(text string) kept {
	k.past = k.text + "\n" + k.past
	k.text, k.by = text, ""
	return k
}

// read returns what the server has of a sub-tenant, once all of it is processed. It waits for a server that is away.
func (p *place) read() map[string]kept {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		seen, err := p.tryRead()
		if err == nil {
			return seen
		}
		if !errors.Is(err, errPending) && !unanswered(err) || time.Now().After(deadline) {
			p.c.foe("%s can't be read: %v", p.name, err)
			return nil
		}
	}
}

var errPending = errors.New("not all is processed")

func (p *place) tryRead() (map[string]kept, error) {
	ctx := p.c.t.Context()
	page, err := p.sub.List(ctx, contextmem.ListRequest{Class: contextmem.ClassMemory, PageSize: 100, Content: true})
	if err != nil || len(page.Sources) == 0 {
		return map[string]kept{}, err
	}
	var ids []string
	for _, s := range page.Sources {
		ids = append(ids, s.ID)
	}
	states, err := p.sub.Status(ctx, ids...)
	if err != nil {
		return nil, err
	}
	for _, st := range states {
		switch {
		case !st.Status.Terminal():
			return nil, errPending
		case st.Status != contextmem.StatusCompleted:
			return nil, fmt.Errorf("%s is %s: %s", st.ID, st.Status, st.ErrorCode)
		}
	}
	seen := map[string]kept{}
	for _, s := range page.Sources {
		if seen[s.ID], err = p.readItem(ctx, s); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// readItem reads the history of a memory and recalls it.
func (p *place) readItem(ctx context.Context, s contextmem.SourceInfo) (k kept, err error) {
	k = kept{text: s.Content, group: fmt.Sprint(s.Additional["group"]), mark: fmt.Sprint(s.Additional["mark"])}
	var h struct {
		Versions []struct {
			Text string `json:"text"`
		} `json:"versions"`
	}
	if err := p.ask("GET", "/ext/items/"+s.ID+"/history?type=memory", nil, &h); err != nil {
		return k, err
	}
	for i, v := range h.Versions {
		if i > 0 {
			k.past += v.Text + "\n"
		} else if v.Text != s.Content {
			return k, fmt.Errorf("%s is listed with %q, its newest version has %q", s.ID, s.Content, v.Text)
		}
	}
	res, err := p.recall(ctx, s.ID)
	if err != nil {
		return k, err
	}
	for _, ch := range res.Chunks {
		if ch.SourceID != s.ID {
			continue
		}
		if !strings.Contains(ch.Text, s.Content) {
			return k, fmt.Errorf("%s is listed with %q and recalled with %q", s.ID, s.Content, ch.Text)
		}
		if by := ch.SupersededBy; by != nil && by.Decider == "caller" {
			k.by = by.ID
		}
		return k, nil
	}
	for _, w := range res.Warnings {
		if w.Code == "partial" { // the indexes lack thousands of changes after many kills, and the answer says so
			p.c.partial.Add(1)
			return k, errPending
		}
	}
	return k, fmt.Errorf("%s is listed with %q and is not recalled; warnings %v", s.ID, s.Content, res.Warnings)
}

func (p *place) recall(ctx context.Context, id string) (*contextmem.Result, error) {
	return p.sub.Recall(ctx, contextmem.Recall{Query: tokenOf(id), Class: contextmem.ClassMemory, MaxResults: 20, Alpha: contextmem.FixedAlpha(0), Superseded: contextmem.SupersededMark})
}

// checkExport checks that an export has the newest text of each memory, and nothing of deleted ones.
func (c *changes) checkExport() {
	out := inProcess(c.t, c.dir, "", "export", "--tenant", "main")
	require.Zero(c.t, out.code, out.err)
	for _, p := range c.places {
		for id, k := range p.items {
			if !strings.Contains(out.out, k.text) {
				c.foe("the export lacks %s: %q", id, k.text)
			}
		}
		for _, id := range p.gone {
			if strings.Contains(out.out, tokenOf(id)) {
				c.foe("the export has %s, which was deleted", id)
			}
		}
	}
}

// refusedConnection reports whether a call did not reach a server.
func refusedConnection(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
