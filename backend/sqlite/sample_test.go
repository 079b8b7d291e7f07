package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

const testUID = "0123456789abcdef0123456789abcdef"

var (
	testPart = backend.Partition{Class: backend.Memory, Sub: "anna"}
	testTime = time.Date(2150, time.June, 1, 0, 0, 0, 0, time.UTC)
)

// testKey encrypts the files of some tests.
var testKey = bytes.Repeat([]byte{42}, 32)

// plainAndEncrypted returns the options of a plain deployment and, if possible, of an encrypted one.
func plainAndEncrypted(plain, encrypted string) map[string]*Options {
	m := map[string]*Options{plain: nil}
	if builtin != nil && current == builtin {
		m[encrypted] = &Options{EncryptionKey: testKey}
	}
	return m
}

// openTest opens a store in a new directory.
func openTest(t testing.TB) (*DB, *store) {
	t.Helper()
	return reopenTest(t, t.TempDir())
}

// emptyDeployment returns a directory with a registry and no tenants.
func emptyDeployment(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	d, err := Open(t.Context(), dir, nil)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	return dir
}

func reopenTest(t testing.TB, dir string) (*DB, *store) { return reopenWith(t, dir, nil) }

func reopenWith(t testing.TB, dir string, o *Options) (*DB, *store) {
	t.Helper()
	d, err := Open(t.Context(), dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	s, err := d.OpenStore(t.Context(), testUID)
	require.NoError(t, err)
	return d, s.(*store)
}

// memory returns the n-th of a sequence of short memories with their results, as a worker makes them.
func memory(r *rand.Rand, n int) (backend.Incoming, backend.Indexed, backend.Finished) {
	text := fmt.Sprintf("On day %d Anna met Robert in the harbour of Lisbon and they spoke about boat number %d.", n, r.IntN(500))
	in := backend.Incoming{
		Source: backend.Source{
			Part: testPart, ID: fmt.Sprintf("memory-%08x-%d", r.Uint32(), n), Title: "day", Kind: "text", MediaType: "text/plain",
			SizeBytes: int64(len(text)), CreatedAt: testTime, UpdatedAt: testTime, Time: testTime.Add(time.Duration(n) * time.Minute),
			Session: fmt.Sprintf("session-%d", n/20), Metadata: []byte(`{"mood":"good","place":"Lisbon"}`),
			Doc: []byte(`{"user":"Anna","infer":false}`), Tags: []uint64{r.Uint64N(50), r.Uint64N(1000), r.Uint64()},
		},
		Blobs: []backend.Blob{{Kind: backend.Original, Data: []byte(text)}},
	}
	vector := make([]float32, 128)
	for i := range vector {
		vector[i] = r.Float32() - 0.5
	}
	ix := backend.Indexed{Chunks: []backend.Chunk{{
		Key: fmt.Sprintf("chunk-%08x-%d", r.Uint32(), n), Text: text, Layout: []byte(`{"offset":0}`), Vector: vector, Extra: []byte(`{"s":"Anna"}`),
	}}}
	fin := backend.Finished{State: backend.Completed, Event: true}
	keys := []string{"anna", "robert", fmt.Sprintf("boat %d", r.IntN(500)), fmt.Sprintf("day %d", n)}
	for _, key := range keys {
		fin.Mentions = append(fin.Mentions, backend.Mention{Key: key, Name: key, Type: "thing", Weight: 1})
	}
	for i := range 2 {
		fin.Relations = append(fin.Relations, backend.Relation{
			FromKey: keys[i], ToKey: keys[i+2], Predicate: "spoke about", Raw: "spoke about", Context: text,
			Confidence: 0.5, KnownFrom: testTime.Add(time.Duration(n) * time.Second),
		})
	}
	if n%4 == 0 {
		fin.Aliases = []backend.Alias{{From: keys[3], Into: keys[2], Reason: "test", At: testTime}}
	}
	return in, ix, fin
}

// ingest runs the memories numbered from to to through all steps of ingestion, as one batch.
func ingest(t testing.TB, s backend.Store, r *rand.Rand, from, to int) []backend.Accepted {
	t.Helper()
	ctx := context.Background()
	var ins []backend.Incoming
	var ixs []backend.Indexed
	var fins []backend.Finished
	for n := from; n < to; n++ {
		in, ix, fin := memory(r, n)
		ins, ixs, fins = append(ins, in), append(ixs, ix), append(fins, fin)
	}
	accepted, err := s.Accept(ctx, ins)
	require.NoError(t, err)
	token := fmt.Sprintf("token-%d", from)
	claims, err := s.Claim(ctx, token, testTime, testTime.Add(time.Minute), to-from, 0)
	require.NoError(t, err)
	require.Len(t, claims, to-from)
	for i, a := range accepted {
		ixs[i].Num, ixs[i].Token = a.Num, token
		fins[i].Num, fins[i].Token = a.Num, token
	}
	ok, err := s.Index(ctx, ixs)
	require.NoError(t, err)
	require.NotContains(t, ok, false)
	ok, err = s.Finish(ctx, fins)
	require.NoError(t, err)
	require.NotContains(t, ok, false)
	return accepted
}

// newestOf returns the newest version of an id.
func newestOf(t testing.TB, s backend.Store, part backend.Partition, id string) backend.Version {
	t.Helper()
	srcs, err := s.Sources(t.Context(), part, []string{id})
	require.NoError(t, err)
	require.NotNil(t, srcs[0])
	return srcs[0].Version()
}
