package backendtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

func (m *model) accept() {
	ctx := m.t.Context()
	var in, wantIn []backend.Incoming
	for range 1 + m.rng.IntN(4) {
		src := m.randomSource()
		e := m.expect(src.Part, src.ID)
		inc := backend.Incoming{
			Source: src, IfAbsent: m.rng.IntN(6) == 0, Expect: e[0],
			Blobs: []backend.Blob{{Kind: backend.Original, Data: fmt.Appendf(nil, "content %d", m.serial)}},
		}
		in = append(in, inc)
		inc.Expect = e[1]
		wantIn = append(wantIn, inc)
		m.note("accept %v %q expires %s session %q if absent %v expect %v", src.Part, src.ID, short(src.ExpiresAt), src.Session, inc.IfAbsent, inc.Expect)
	}
	got, err := m.got.Accept(ctx, in)
	want, wantErr := m.want.Accept(ctx, wantIn)
	if !m.sameOutcome(err, wantErr) {
		return
	}
	require.Len(m.t, got, len(want))
	for i := range want {
		require.Equal(m.t, want[i].Exists, got[i].Exists)
		require.Equal(m.t, want[i].Conflict, got[i].Conflict)
		m.noteOutcome(expected{in[i].Expect, wantIn[i].Expect}, want[i].Conflict)
		if want[i].Exists || want[i].Conflict {
			require.Zero(m.t, got[i].Num)
			continue
		}
		name := fmt.Sprintf("%s#%d", in[i].ID, want[i].Num)
		m.names[0][got[i].Num], m.names[1][want[i].Num] = name, name
		m.versions[0], m.versions[1] = append(m.versions[0], got[i].Num), append(m.versions[1], want[i].Num)
		m.toWant.sources[got[i].Num] = want[i].Num
	}
}

// randomSource returns a random version of one of modelIDs.
func (m *model) randomSource() backend.Source {
	m.serial++
	src := backend.Source{
		Part: m.part(), ID: pick(m.rng, modelIDs), Title: Sentence(m.rng), Kind: "kind", SizeBytes: m.rng.Int64N(100),
		CreatedAt: m.now, UpdatedAt: m.now.Add(time.Duration(m.rng.IntN(5)) * time.Second), Tags: randomTags(m.rng),
		Doc: fmt.Appendf(nil, "doc %d", m.serial),
	}
	if m.rng.IntN(8) == 0 {
		src.ExpiresAt = m.now.Add(time.Duration(m.rng.IntN(300)) * time.Second)
	}
	if m.rng.IntN(2) == 0 {
		src.Time = m.now.Add(time.Duration(m.rng.IntN(7200)) * time.Second)
	}
	if m.rng.IntN(4) == 0 {
		src.Session = fmt.Sprint("session", m.rng.IntN(2))
	}
	return src
}

// randomChunks returns random chunks of a version, some without a vector.
func (m *model) randomChunks(id string) (out []backend.Chunk) {
	for i := range min(m.rng.IntN(6), 4) {
		text := Text(m.rng, 1)
		c := backend.Chunk{Ordinal: i, Key: fmt.Sprintf("%s/%d", id, i), Text: text, Heading: pick(m.rng, places), Extra: []byte(`{"k":["May"],"s":"Anna"}`)}
		if m.rng.IntN(8) > 0 {
			c.Vector = Vector(text, dim)
		}
		out = append(out, c)
	}
	return out
}

// place stores items with Place, and applies the changes that it returns to an index.
func (m *model) place() {
	ctx := m.t.Context()
	var in, wantIn []backend.Placed
	for _, id := range modelIDs[:1+m.rng.IntN(3)] {
		src := m.randomSource()
		src.ID = id
		p := backend.Placed{Incoming: backend.Incoming{Source: src, IfAbsent: m.rng.IntN(6) == 0}, Chunks: m.randomChunks(id), Lane: m.randomLane(), Event: m.rng.IntN(4) == 0}
		e := expected{}
		if m.rng.IntN(4) == 0 {
			e = m.expect(src.Part, id)
		}
		m.note("place %v %q with %d chunks, if absent %v expect %v", src.Part, src.ID, len(p.Chunks), p.IfAbsent, e[1])
		p.Expect = e[0]
		in = append(in, p)
		p.Expect = e[1]
		wantIn = append(wantIn, p)
	}
	index := pick(m.rng, m.indexes().Indexes())
	if m.rng.IntN(2) == 0 {
		m.follow(index, m.got)
	}
	got, err := m.got.Place(ctx, in)
	want, wantErr := m.want.Place(ctx, wantIn)
	if !m.sameOutcome(err, wantErr) {
		return
	}
	require.Len(m.t, got.Nums, len(want.Nums))
	require.Len(m.t, got.Changes, len(want.Changes))
	for i := range want.Nums {
		name := fmt.Sprintf("%s#%d", in[i].ID, want.Nums[i])
		m.names[0][got.Nums[i]], m.names[1][want.Nums[i]] = name, name
		m.versions[0], m.versions[1] = append(m.versions[0], got.Nums[i]), append(m.versions[1], want.Nums[i])
		m.toWant.sources[got.Nums[i]] = want.Nums[i]
	}
	for i := range want.Changes {
		for j, row := range want.Changes[i].Rows {
			m.toWant.chunks[got.Changes[i].Rows[j].Chunk] = row.Chunk
		}
	}
	m.did["place"]++
	if index.Applied() == got.After {
		require.NoError(m.t, index.Apply(ctx, got.Changes))
		m.did["reported"]++
	}
}

func (m *model) claim() {
	ctx := m.t.Context()
	m.serial++
	token := fmt.Sprint("worker", m.serial)
	lease := m.now.Add(time.Duration(1+m.rng.IntN(600)) * time.Second)
	limit, maxBytes := 1+m.rng.IntN(5), int64(0)
	if m.rng.IntN(3) == 0 {
		maxBytes = m.rng.Int64N(200)
	}
	m.note("claim %s until %s, at most %d and %d bytes", token, short(lease), limit, maxBytes)
	got, err := m.got.Claim(ctx, token, m.now, lease, limit, maxBytes)
	want, wantErr := m.want.Claim(ctx, token, m.now, lease, limit, maxBytes)
	if !m.sameOutcome(err, wantErr) {
		return
	}
	show := func(side int, cs []backend.Claim) string {
		d := &dumper{t: m.t, u: universe{name: func(n int64) string { return m.names[side][n] }}}
		var out []string
		for _, c := range cs {
			out = append(out, d.source(&c.Source, true), fmt.Sprintf("%q", c.Blobs))
			for _, ch := range c.Chunks {
				out = append(out, ch.Key, ch.Text)
			}
		}
		return strings.Join(out, "\n")
	}
	require.Equal(m.t, show(1, want), show(0, got))
	for i := range want {
		m.held = append(m.held, heldClaim{[2]int64{got[i].Num, want[i].Num}, token, want[i].ID, want[i].State == backend.GraphCreation, len(want[i].Chunks)})
	}
	if m.rng.IntN(8) == 0 {
		m.endClaims()
	}
}

// someHeld returns up to three claims, some of which may be lost. Claims whose indexed field equals
// the argument are more likely.
func (m *model) someHeld(indexed bool) []*heldClaim {
	var out []*heldClaim
	for i := range m.held {
		odds := 6
		if m.held[i].indexed == indexed {
			odds = 2
		}
		if m.rng.IntN(odds) == 0 && len(out) < 3 {
			out = append(out, &m.held[i])
		}
	}
	return out
}

// forgetEnded removes four fifths of the claims that have ended. The others stay, since a worker
// may continue without knowing that it lost its claim.
func (m *model) forgetEnded(ended map[*heldClaim]bool) {
	var kept []heldClaim
	for i := range m.held {
		if !ended[&m.held[i]] || m.rng.IntN(5) == 0 {
			kept = append(kept, m.held[i])
		}
	}
	m.held = kept
}

// work claims, indexes and finishes items, as an undisturbed worker does.
func (m *model) work() {
	before := len(m.held)
	m.claim()
	mine := func() (out []*heldClaim) {
		for i := min(before, len(m.held)); i < len(m.held); i++ {
			out = append(out, &m.held[i])
		}
		return out
	}
	m.index(mine())
	m.finish(mine())
}

func (m *model) indexSome() { m.index(m.someHeld(false)) }

func (m *model) finishSome() { m.finish(m.someHeld(true)) }

func (m *model) index(held []*heldClaim) {
	ctx := m.t.Context()
	if len(held) == 0 {
		return
	}
	var in [2][]backend.Indexed
	for _, h := range held {
		x := backend.Indexed{Token: h.token, Lane: m.randomLane()}
		if m.rng.IntN(2) == 0 {
			x.Title = Sentence(m.rng)
		}
		if m.serial%3 == 0 {
			x.Doc, x.Tags = fmt.Appendf(nil, "{%d}", m.serial), []uint64{uint64(m.serial) % 4}
		}
		if m.rng.IntN(3) == 0 {
			x.Time = m.now
		}
		if m.rng.IntN(3) == 0 {
			m.serial++
			x.Blobs = []backend.Blob{{Kind: backend.Text, Data: fmt.Appendf(nil, "text %d", m.serial)}}
		}
		x.Chunks = m.randomChunks(h.id)
		for side := range 2 {
			x.Num = h.nums[side]
			in[side] = append(in[side], x)
		}
		m.note("index %s as %s with %d chunks", m.names[1][h.nums[1]], h.token, len(x.Chunks))
	}
	got, err := m.indexAndReport(ctx, in[0])
	want, wantErr := m.want.Index(ctx, in[1])
	if !m.sameOutcome(err, wantErr) {
		return
	}
	require.Equal(m.t, want, got)
	ended := map[*heldClaim]bool{}
	defer func() { m.forgetEnded(ended) }()
	for i, h := range held {
		if !want[i] {
			m.did["lost"]++
			ended[h] = true
			continue
		}
		m.did["index"]++
		h.indexed, h.chunks = true, len(in[0][i].Chunks)
		a, err := m.got.SourceChunks(ctx, h.nums[0], 0, 100, false)
		require.NoError(m.t, err)
		b, err := m.want.SourceChunks(ctx, h.nums[1], 0, 100, false)
		require.NoError(m.t, err)
		require.Len(m.t, a, len(b))
		for j := range a {
			m.toWant.chunks[a[j].Num] = b[j].Num
		}
	}
}

// randomRelation returns a random relation with a unique Raw.
func (m *model) randomRelation(chunks int) backend.Relation {
	m.serial++
	r := backend.Relation{
		Chunk: int64(m.rng.IntN(chunks)), FromKey: pick(m.rng, modelKeys[:2]), Raw: fmt.Sprint("raw", m.serial), Predicate: "likes", Confidence: .5,
		KnownFrom: m.now.Add(time.Duration(m.rng.IntN(40)-20) * 5 * time.Second), // often the same time as another's
	}
	switch m.rng.IntN(4) {
	case 0:
		r.Asserted = r.KnownFrom.Add(-time.Duration(m.rng.IntN(20)) * 5 * time.Second)
	case 1:
		r.ValidFrom = r.KnownFrom.Add(-time.Duration(m.rng.IntN(20)) * 5 * time.Second)
	case 2:
		r.ValidTo = r.KnownFrom.Add(time.Duration(m.rng.IntN(20)-10) * 5 * time.Second)
	}
	if m.rng.IntN(2) == 0 {
		r.Predicate, r.Functional = "lives_in", true
	}
	if m.rng.IntN(2) == 0 {
		r.ToKey = pick(m.rng, modelKeys)
	} else {
		r.Object = pick(m.rng, places[:3])
	}
	if m.rng.IntN(4) == 0 {
		r.Retracts = true
	}
	return r
}

func (m *model) finish(held []*heldClaim) {
	ctx := m.t.Context()
	if len(held) == 0 {
		return
	}
	var in [2][]backend.Finished
	for _, h := range held {
		f := backend.Finished{Token: h.token, State: backend.Completed, Event: m.rng.IntN(3) == 0}
		if m.rng.IntN(5) == 0 {
			f.State, f.ErrorCode, f.ErrorMessage = backend.Errored, "E1", "no"
		}
		for c := range h.chunks {
			for _, k := range modelKeys {
				if m.rng.IntN(4) == 0 {
					f.Mentions = append(f.Mentions, backend.Mention{Chunk: c, Key: k, Name: strings.ToUpper(k), Type: "t", Weight: float32(1 + m.rng.IntN(3))})
				}
			}
		}
		if h.chunks > 0 {
			for range m.rng.IntN(4) {
				r := m.randomRelation(h.chunks)
				f.Relations = append(f.Relations, r)
				m.note("  relation %s: %s %s %s/%s known %s functional %v retracts %v", r.Raw, r.FromKey, r.Predicate, r.ToKey, r.Object, short(r.KnownFrom), r.Functional, r.Retracts)
			}
		}
		for m.rng.IntN(3) == 0 {
			a := backend.Alias{From: pick(m.rng, modelKeys), Into: pick(m.rng, modelKeys), Likely: m.rng.IntN(2) == 0, Reason: fmt.Sprint("reason ", m.rng.IntN(9)), At: m.now}
			f.Aliases = append(f.Aliases, a)
			m.note("  alias %s of %s, likely %v", a.From, a.Into, a.Likely)
		}
		for side := range 2 {
			f.Num = h.nums[side]
			in[side] = append(in[side], f)
		}
		m.note("finish %s as %s, state %d, %d mentions", m.names[1][h.nums[1]], h.token, f.State, len(f.Mentions))
	}
	got, err := m.finishAndReport(ctx, in[0])
	want, wantErr := m.want.Finish(ctx, in[1])
	if !m.sameOutcome(err, wantErr) {
		return
	}
	require.Equal(m.t, want, got)
	ended := map[*heldClaim]bool{}
	for i, h := range held {
		ended[h] = true
		if !want[i] {
			m.did["lost"]++
			continue
		}
		m.did["finish"]++
		m.did["mention"] += len(in[1][i].Mentions)
		m.did["relation"] += len(in[1][i].Relations)
	}
	m.forgetEnded(ended)
}

func (m *model) giveBack() {
	ctx := m.t.Context()
	var in [2][]backend.Deferred
	for _, h := range m.someHeld(m.rng.IntN(2) == 0) {
		f := backend.Deferred{Token: h.token, State: pick(m.rng, []backend.State{backend.Queued, backend.Processing}),
			NotBefore: m.now.Add(time.Duration(m.rng.IntN(60)) * time.Second), ErrorCode: "E2", ErrorMessage: "later"}
		for side := range 2 {
			f.Num = h.nums[side]
			in[side] = append(in[side], f)
		}
		m.note("defer %s as %s to %s", m.names[1][h.nums[1]], h.token, short(f.NotBefore))
	}
	m.sameOutcome(m.got.Defer(ctx, in[0]), m.want.Defer(ctx, in[1]))
	for _, h := range m.someHeld(m.rng.IntN(2) == 0) {
		until := m.now.Add(time.Duration(m.rng.IntN(200)) * time.Second)
		m.note("renew %s as %s until %s", m.names[1][h.nums[1]], h.token, short(until))
		m.sameOutcome(m.got.Renew(ctx, h.token, h.nums[:1], until), m.want.Renew(ctx, h.token, h.nums[1:], until))
	}
}

func (m *model) requeue() {
	ctx := m.t.Context()
	for _, id := range modelIDs {
		p := m.part()
		if !m.sameOutcome(m.got.Requeue(ctx, p, id), m.want.Requeue(ctx, p, id)) {
			continue
		}
		m.note("requeue %v %q", p, id)
	}
}
