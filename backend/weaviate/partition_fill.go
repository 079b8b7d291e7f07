package weaviate

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/weaviate/weaviate-go-client/v5/weaviate/filters"
)

// fills reads the terms, or the dictionary, and the vectors of large partitions of an index in the background.
type fills struct {
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	busy   map[partitionKey]bool
	next   map[partitionKey]pause
}

// pause is the time until which a content is not read again.
type pause struct {
	until time.Time
	unfit bool // whether it did not fit into the cache
}

const (
	// fillShare is how many times as long as a read took the partition is not read again, and failedShare the same after a read
	// that failed. So a partition that changes in ways that its cached content cannot follow is not read all the time.
	fillShare, failedShare = 20, 4
	// fillPause is the minimum pause between two reads of a partition.
	fillPause = time.Second
	// noRoomPause is the pause after a read for which there was no room in the cache, and tooLargePause that after one that was
	// too large for any.
	noRoomPause, tooLargePause = time.Minute, time.Hour
	// maxFillNotes is the maximum number of partitions of an index whose pauses are remembered.
	maxFillNotes = 10_000
	// pageRows is partitionCache.page.
	pageRows = 1000
)

func (f *fills) start() {
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.busy, f.next = make(map[partitionKey]bool), make(map[partitionKey]pause)
}

// stop ends all reads and waits for them. Later ones are not begun.
func (f *fills) stop() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.cancel()
	f.running.Wait()
}

// begin reports whether a content is to be read now. If so, the caller calls end afterwards. A dictionary is read if the terms did
// not fit.
func (f *fills) begin(k partitionKey) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.busy[k] || time.Now().Before(f.next[k].until) {
		return false
	}
	if terms := termsOf(k); terms != k && (f.busy[terms] || !f.next[terms].unfit) {
		return false
	}
	f.busy[k] = true
	f.running.Add(1)
	return true
}

// termsOf returns the key of the terms for that of a dictionary, and other keys as they are.
func termsOf(k partitionKey) partitionKey {
	if k.dim == dictionaryDim {
		k.dim = 0
	}
	return k
}

// end ends a read that took some time. err says how.
func (f *fills) end(k partitionKey, took time.Duration, err error) {
	unfit := errors.Is(err, errTooLarge) || errors.Is(err, errNoRoom)
	p := pause{time.Now().Add(pauseAfter(took, err)), unfit}
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.running.Done()
	delete(f.busy, k)
	if len(f.next) >= maxFillNotes {
		clear(f.next)
	}
	f.next[k] = p
	if unfit && k.dim == 0 { // the read went on for the dictionary
		k.dim = dictionaryDim
		f.next[k] = pause{until: time.Now().Add(pauseAfter(took, nil))}
	}
}

// pauseAfter returns the pause after a read.
func pauseAfter(took time.Duration, err error) time.Duration {
	switch {
	case err == nil:
		return max(fillPause, fillShare*took)
	case errors.Is(err, errTooLarge):
		return tooLargePause
	case errors.Is(err, errNoRoom):
		return max(noRoomPause, fillShare*took)
	}
	return max(fillPause, failedShare*took)
}

var (
	errNoRoom   = errors.New("weaviate: the cache has no room for a partition")
	errTooLarge = errors.New("weaviate: a partition is too large for the cache")
	errOutdated = errors.New("weaviate: a partition changed while it was read")
)

// fill lets a large partition be read in the background and cached, unless it is being read or was read a short time ago.
// Searches use the cluster meanwhile.
func (x *index) fill(k partitionKey) {
	if !x.fills.begin(k) {
		return
	}
	go func() {
		began, err := time.Now(), context.Canceled
		defer func() { x.fills.end(k, time.Since(began), err) }()
		select {
		case x.x.partitions.reads <- struct{}{}:
			defer func() { <-x.x.partitions.reads }()
		case <-x.fills.ctx.Done():
			return
		}
		began = time.Now()
		err = x.readWhole(x.fills.ctx, k)
		if err != nil && x.fills.ctx.Err() == nil {
			x.x.cluster.log.LogAttrs(x.fills.ctx, slog.LevelDebug, "a partition was not read into the cache", slog.String("uid", x.uid), slog.Any("err", err))
		}
	}()
}

// readWhole reads a content and caches it. If terms do not fit, it goes on for the dictionary alone, and returns errTooLarge or
// errNoRoom.
func (x *index) readWhole(ctx context.Context, k partitionKey) error {
	var c readContent = newPartitionTerms(k.part)
	if k.dim == dictionaryDim {
		c = &partitionDictionary{part: k.part}
	}
	a := searchRequest{collection: x.x.schema.chunks(), tenant: x.uid, where: equal(propSpace, string(spaceOf(k.part))), fields: bagFields + " _additional{" + updated + "}"}
	there := true
	if k.dim > 0 {
		c = newPartitionVectors(k)
		a.collection, a.where, a.fields = x.x.schema.vectors(k.dim), equal(propSpace, laneSpace(k.part, k.lane)), rowFields
		var err error
		if there, err = x.x.schema.tenantExists(ctx, a.collection, x.uid); err != nil {
			return err
		}
	}
	if !x.leading.Load() && x.currentMark(ctx) == 0 {
		return errOutdated
	}
	cache := x.x.partitions
	e, other := cache.begin(k), (*cached)(nil)
	if k.dim == 0 {
		k.dim = dictionaryDim
		other = cache.begin(k)
	}
	var recent *recentRead
	if k.dim == dictionaryDim {
		recent = x.readRecent(k.part)
	}
	var unfit, err error
	if there {
		err = x.eachObject(ctx, a, "", "", func(some []object) error {
			if e.isDead() {
				return errOutdated
			}
			for _, o := range some {
				if err := errors.Join(addObject(c, o), recent.add(o)); err != nil {
					return err
				}
			}
			err := cache.fits(e.key, c.size())
			if t, ok := c.(*partitionTerms); ok && err != nil {
				c, e, other, unfit = dictionaryOf(t), other, e, err
				err = cache.fits(e.key, c.size())
			}
			return err
		})
	}
	if other != nil {
		cache.abandon(other)
	}
	if _, ok := c.(*partitionDictionary); ok && err == nil {
		recent.end()
	} else {
		recent.abandon()
	}
	if err != nil {
		cache.abandon(e)
		return err
	}
	if cache.end(e, c); e.isDead() {
		return errOutdated
	}
	return unfit
}

// eachObject calls f with all objects that a search finds, some at a time. It reads those whose chunks are from least up to, but
// not including, end, in the order of texts; "" is no limit. It asks for the numbers of all chunks first, and then for ranges of
// them: pages that are counted from the first object would miss some if others are deleted meanwhile.
func (x *index) eachObject(ctx context.Context, a searchRequest, least, end string, f func([]object) error) error {
	list, page := x.x.partitions.list, x.x.partitions.page
	within := func(least, end, fields string, limit int) searchRequest {
		parts := []where{a.where}
		if least != "" {
			parts = append(parts, where{op: filters.GreaterThanEqual, path: propChunk, texts: []string{least}})
		}
		if end != "" {
			parts = append(parts, where{op: filters.LessThan, path: propChunk, texts: []string{end}})
		}
		return searchRequest{collection: a.collection, tenant: a.tenant, where: allOf(parts...), limit: limit, fields: fields}
	}
	found, err := x.get(ctx, within(least, end, propChunk, list))
	if err != nil {
		return err
	}
	chunks := make([]string, len(found))
	for i, o := range found {
		chunks[i] = o.text(propChunk)
	}
	slices.Sort(chunks)
	for i := 0; i < len(chunks); i += page {
		from, to := least, end
		if i > 0 {
			from = chunks[i]
		}
		if i+page < len(chunks) {
			to = chunks[i+page]
		}
		// There may be more chunks in a range than were listed.
		most := min(4*page, maxResults)
		some, err := x.get(ctx, within(from, to, a.fields, most))
		if err == nil && len(some) == most {
			err = x.eachObject(ctx, a, from, to, f)
		} else if err == nil {
			err = f(some)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
