package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// secretRule matches a secret, which names who may see it: tenant, sub-tenant and principal, or "all".
var secretRule = regexp.MustCompile(`(?i)zq(t\d)(s\d)(all|p\d)x`)

var probePrincipals = []string{"p0", "p1", "p2"}

// TestIsolation makes random reads while items are written, replaced with another access list, edited and deleted. No
// part of any answer may have a secret that its reader may not see.
func TestIsolation(t *testing.T) {
	t.Parallel()
	probes := 6000
	if testing.Short() {
		probes = 1500
	}
	if n, err := strconv.Atoi(os.Getenv("CONTEXTMEM_PROBES")); err == nil { // more of them, for a day when there is time
		probes = n
	}
	svc, err := contextmem.Open(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	for i := range 3 {
		servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: fmt.Sprint("t", i)})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := rand.New(rand.NewPCG(2, 5)) // there is something to see from the first probe on
	for range 60 {
		require.NoError(t, probeWrite(ctx, svc, first))
	}
	require.NoError(t, svc.Drain(ctx))
	var writers sync.WaitGroup
	var written atomic.Int64
	for w := range 2 {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 5))
			for ctx.Err() == nil {
				if err := probeWrite(ctx, svc, r); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
				written.Add(1)
			}
		})
	}
	var readers sync.WaitGroup
	var done, seen, leaks atomic.Int64
	for w := range 2 {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 6))
			for done.Add(1) <= int64(probes) && leaks.Load() == 0 && !t.Failed() {
				n, leak := probeRead(t, svc, r)
				seen.Add(int64(n))
				if leak != "" {
					leaks.Add(1)
					t.Error(leak)
				}
			}
		})
	}
	readers.Wait()
	cancel()
	writers.Wait()
	t.Logf("%d probes saw %d secrets, beside %d writes", probes, seen.Load(), written.Load())
	require.Greater(t, seen.Load(), int64(probes), "the probes must see what they may see")
}

func probeWrite(ctx context.Context, svc *contextmem.Service, r *rand.Rand) error {
	ti, si := r.IntN(3), r.IntN(3)
	sub := svc.Tenant(fmt.Sprint("t", ti)).Sub(fmt.Sprint("s", si))
	id := fmt.Sprint("i", r.IntN(25))
	switch r.IntN(10) {
	case 0:
		_, err := sub.DeleteItems(ctx, contextmem.DeleteItemsRequest{IDs: []string{id}, Class: contextmem.ClassKnowledge})
		return err
	case 1:
		_, err := sub.EditMetadata(ctx, contextmem.EditMetadataRequest{ID: id, Class: contextmem.ClassKnowledge, Additional: map[string]any{"n": r.IntN(9)}})
		if errors.Is(err, fault.ErrNotFound) {
			err = nil
		}
		return err
	}
	who, acl := "all", []string(nil)
	if p := r.IntN(4); p < 3 {
		who = probePrincipals[p]
		acl = []string{who}
	}
	secret := fmt.Sprintf("Zqt%ds%d%sx", ti, si, who)
	_, err := sub.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: id, Name: secret + ".txt", ACL: acl, Metadata: nil, Additional: map[string]any{"word": secret},
		Data: []byte(fmt.Sprintf("Anna Lind works at %s Industries. Anna Lind knows %s Miller. The kettle number %d stands in %s Hall.", secret, secret, r.IntN(9), secret))}}})
	return err
}

// probeRead makes one read as a principal, or as everybody. It returns the number of secrets in the answer and one that
// the reader may not see, if any.
func probeRead(t *testing.T, svc *contextmem.Service, r *rand.Rand) (n int, leak string) {
	ctx := t.Context()
	ti, si := r.IntN(3), r.IntN(3)
	sub := svc.Tenant(fmt.Sprint("t", ti)).Sub(fmt.Sprint("s", si))
	who := []string{probePrincipals[r.IntN(3)]}
	if r.IntN(5) == 0 {
		who = []string{"guest"}
	}
	queries := []string{"where does Anna Lind work", "who knows whom", "kettle in the hall", "Zqt" + strconv.Itoa(r.IntN(3)) + "s" + strconv.Itoa(r.IntN(3)) + "p1x"}
	id := fmt.Sprint("i", r.IntN(25))
	var answer any
	var err error
	kind := r.IntN(8)
	switch kind {
	case 0, 1, 2:
		q := contextmem.Recall{Class: contextmem.ClassKnowledge, Query: queries[r.IntN(4)], MaxResults: 1 + r.IntN(30), GraphContext: r.IntN(2) == 0, Principals: who, RelatedChunks: r.IntN(3)}
		if r.IntN(3) == 0 {
			q.Mode = contextmem.ModeThinking
		}
		answer, err = sub.Recall(ctx, q)
	case 3:
		answer, err = sub.BooleanRecall(ctx, contextmem.BooleanRecallRequest{Class: contextmem.ClassKnowledge, Query: "kettle", MaxResults: 30, Principals: who})
	case 4:
		answer, err = sub.List(ctx, contextmem.ListRequest{Class: contextmem.ClassKnowledge, Content: true, Principals: who})
	case 5:
		answer, err = sub.Fetch(ctx, contextmem.FetchRequest{ID: id, Principals: who})
	case 6:
		answer, err = sub.Inspect(ctx, content.InspectRequest{ID: id, Principals: who})
	case 7:
		answer, err = sub.GraphRelations(ctx, contextmem.GraphRelationsRequest{Principals: who, Limit: 50})
	}
	if errors.Is(err, fault.ErrNotFound) {
		return 0, ""
	}
	if err != nil {
		return 0, fmt.Sprintf("kind %d: %v", kind, err)
	}
	b, err := json.Marshal(answer)
	if err != nil {
		return 0, err.Error()
	}
	for _, m := range secretRule.FindAllSubmatch(b, -1) {
		n++
		tenant, partition, may := string(m[1]), string(m[2]), string(m[3])
		if tenant != fmt.Sprint("t", ti) || partition != fmt.Sprint("s", si) || may != "all" && !slices.Contains(who, may) {
			return n, fmt.Sprintf("kind %d: %v in t%d s%d saw %s: %.600s", kind, who, ti, si, m[0], b)
		}
	}
	return n, ""
}
