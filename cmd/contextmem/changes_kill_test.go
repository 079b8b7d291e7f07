package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// TestChangesAreKilled kills a server over a directory with -9 while clients update, restore, supersede, edit and delete
// memories over REST, and while a tenant is imported. Many kills follow a few milliseconds after a call was sent.
//
// A call that was acknowledged holds after the restart, in lists, contents, metadata, histories, recalls, facts, entities and
// exports. A call without an answer has changed everything that it names, or nothing. An import without an answer leaves the
// whole tenant, or none. In the end the directory verifies. CONTEXTMEM_KILL_TEST=full runs the test for ten minutes.
func TestChangesAreKilled(t *testing.T) {
	clients, kills, lasts := 4, 10, 10*time.Minute
	if os.Getenv("CONTEXTMEM_KILL_TEST") == "full" {
		clients, kills = 8, 100_000
	} else if testing.Short() {
		t.Skip("starts processes")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 42))
	c := newChanges(t)
	im := newImports(c)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for n := range clients {
		p := newPlace(c, n, rand.New(rand.NewPCG(seed, uint64(n))))
		wg.Go(func() { p.work(stop) })
	}
	began := time.Now()
	made := 0
	for ; made < kills && time.Since(began) < lasts && !c.failed(); made++ {
		if made%4 == 3 {
			im.kill(rng)
			continue
		}
		c.awaitCall(changeKinds[made%len(changeKinds)])
		time.Sleep(time.Duration(rng.IntN(8000)) * time.Microsecond)
		c.seat.kill()
		c.seat.start()
	}
	close(stop)
	wg.Wait()
	require.Empty(t, c.foes)
	c.seat.kill()
	c.seat.start()
	live, gone := 0, 0
	for _, p := range c.places {
		l, g := p.checkAll()
		live, gone = live+l, gone+g
	}
	im.checkAll()
	c.checkExport()
	require.Empty(t, c.foes)
	assert.Positive(t, live)
	assert.Positive(t, gone)
	c.seat.kill()
	v := inProcess(t, c.dir, "", "verify")
	require.Zero(t, v.code, "%s%s", v.out, v.err)
	t.Logf("%d kills in %v; %d memories live and %d are deleted; acknowledged %v; without an answer and done %v, and not done %v; imports whole %d, cut off %d; %d recalls were partial",
		made, time.Since(began).Round(time.Second), live, gone, c.acked, c.done, c.undone, im.whole, im.cut, c.partial.Load())
}

// imports imports one export again and again, each time into a tenant of its own.
type imports struct {
	c          *changes
	file       string
	texts      map[string]string
	usual      time.Duration // that an import takes which nobody kills
	known      []string      // tenants that have to be there
	n          int
	whole, cut int
}

// newImports makes a tenant whose import takes several commits, and exports it.
func newImports(c *changes) *imports {
	im := &imports{c: c, file: filepath.Join(c.t.TempDir(), "origin.jsonl"), texts: map[string]string{}}
	c.makeTenant("origin")
	sub, ctx := c.client.Tenant("origin").Sub("notes"), c.t.Context()
	var ids []string
	for b := range 6 {
		var batch contextmem.MemoryBatch
		for i := range 100 {
			id, text := fmt.Sprintf("o%d", 100*b+i), fmt.Sprintf("Box %d of shelf %d has the label q%dz.", i, b, 100*b+i)
			batch.Memories = append(batch.Memories, contextmem.Memory{ID: id, Text: text})
			im.texts[id] = text
			ids = append(ids, id)
		}
		_, err := sub.AddMemories(ctx, batch)
		require.NoError(c.t, err)
	}
	_, err := sub.Wait(ctx, ids...)
	require.NoError(c.t, err)
	out := inProcess(c.t, c.dir, "", "export", "--tenant", "origin", "-o", im.file)
	require.Zero(c.t, out.code, out.err)
	began := time.Now()
	require.Zero(c.t, im.run("first").code)
	im.usual = time.Since(began)
	im.known = append(im.known, "first")
	return im
}

func (im *imports) run(tenant string) call {
	return inProcess(im.c.t, im.c.dir, "", "import", im.file, "--tenant", tenant)
}

// kill kills the server during an import, and looks for what the import left.
func (im *imports) kill(rng *rand.Rand) {
	im.n++
	tenant := fmt.Sprint("copy", im.n)
	told := make(chan call)
	go func() { told <- im.run(tenant) }()
	time.Sleep(time.Duration(rng.Int64N(int64(im.usual) * 5 / 4)))
	im.c.seat.kill()
	res := <-told // before the start: the command may own the directory by now
	im.c.seat.start()
	n, err := im.found(tenant)
	switch {
	case err == nil && n == len(im.texts):
		im.whole++
		im.known = append(im.known, tenant)
	case err == nil:
		im.c.foe("an import that was killed left %d of %d memories in %s", n, len(im.texts), tenant)
	case res.code == 0:
		im.c.foe("the import of %s was acknowledged and is lost: %v", tenant, err)
	default:
		im.cut++
		if again := im.run(tenant); again.code != 0 { // nothing is in the way of the same import
			im.c.foe("%s can't be imported again: %s", tenant, again.err)
		}
		im.known = append(im.known, tenant)
	}
}

// found returns the number of memories in an imported tenant. Each has to have its text.
func (im *imports) found(tenant string) (int, error) {
	sub := im.c.client.Tenant(tenant).Sub("notes")
	n := 0
	for page := 1; ; page++ {
		p, err := sub.List(im.c.t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory, Page: page, PageSize: 100, Content: true})
		if err != nil {
			return 0, err
		}
		for _, s := range p.Sources {
			if s.Content != im.texts[s.ID] {
				im.c.foe("%s in %s says %q", s.ID, tenant, s.Content)
			}
			n++
		}
		if page >= p.Pages() {
			return n, nil
		}
	}
}

// checkAll checks that all imported tenants are still there.
func (im *imports) checkAll() {
	for _, tenant := range im.known {
		n, err := im.found(tenant)
		if err != nil || n != len(im.texts) {
			im.c.foe("the imported tenant %s has %d of %d memories: %v", tenant, n, len(im.texts), err)
		}
	}
}
