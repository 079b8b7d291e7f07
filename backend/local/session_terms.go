package local

import (
	"slices"
	"sync"

	"github.com/contextmem/contextmem/internal/lexical"
)

// sessionTF is the frequency of a term in a session.
type sessionTF struct{ session, tf uint32 }

const (
	// termRows is the number of postings from which on the sessions of a term are cached.
	termRows = 512
	// termShare bounds the cache: it has at most termShare entries a row of the partition, 8 bytes each.
	termShare = 4
)

// sessionTerms caches the sessions that have a term, with its frequency there, for terms of many flushed rows. Common words occur in
// most questions, and reading their postings takes longer than all else in a search over sessions. New rows are in the tail,
// which the lists do not cover, and they leave the sessions of flushed rows as they are, except if they join two sessions. Readers
// use the lists while they hold the partition's mu; a writer that holds it empties the cache if a list may have changed.
type sessionTerms struct {
	mu      sync.Mutex
	lists   map[string][]sessionTF // shared: never changed
	entries int
}

func (x *sessionTerms) get(term string) (list []sessionTF, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	list, ok = x.lists[term]
	return list, ok
}

// put adds a list and returns it. It removes others, whichever come first, until there are at most limit entries.
func (x *sessionTerms) put(term string, list []sessionTF, limit int) []sessionTF {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.lists[term]; ok || len(list) > limit {
		return list
	}
	for other, l := range x.lists {
		if x.entries+len(list) <= limit {
			break
		}
		delete(x.lists, other)
		x.entries -= len(l)
	}
	if x.lists == nil {
		x.lists = make(map[string][]sessionTF)
	}
	x.lists[term] = list
	x.entries += len(list)
	return list
}

// empty removes all lists.
func (x *sessionTerms) empty() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lists, x.entries = nil, 0
}

func (x *sessionTerms) bytes() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return int64(8*x.entries + perName*len(x.lists))
}

// sessionList collects the frequencies of one term by session.
type sessionList struct {
	place []uint32 // by session: its index in list plus 1; all 0 between terms
	list  []sessionTF
}

// begin empties the list for a partition with n sessions.
func (l *sessionList) begin(n int) {
	l.end()
	if len(l.place) < n {
		l.place = make([]uint32, n+n/4)
	}
}

// end prepares the memory of the list for another one.
func (l *sessionList) end() {
	for _, s := range l.list {
		l.place[s.session] = 0
	}
	l.list = l.list[:0]
}

func (l *sessionList) add(session, tf uint32) {
	if at := l.place[session]; at != 0 {
		l.list[at-1].tf += tf
		return
	}
	l.list = append(l.list, sessionTF{session, tf})
	l.place[session] = uint32(len(l.list))
}

// addPostings adds the postings of a term in a part of the keyword index, and returns their number.
func (l *sessionList) addPostings(p *partition, v lexical.View, term string) (n int, err error) {
	of, links := p.of, p.links
	last, tf := none, uint32(0) // the rows of a session mostly follow each other
	err = v.Part.EachPosting(term, v.Accept, func(rows, tfs []uint32) {
		n += len(rows)
		for i, row := range rows {
			k := links[of[row]].session
			if k != last {
				if last != none {
					l.add(last, tf)
				}
				last, tf = k, 0
			}
			tf += tfs[i]
		}
	})
	if last != none {
		l.add(last, tf)
	}
	return n, err
}

// sessionsOf returns the sessions that have a term, in no particular order. The result is valid until the next use of l.
func (p *partition) sessionsOf(l *sessionList, views []lexical.View, term string) ([]sessionTF, error) {
	l.begin(len(p.sessions.all))
	x := &p.sessions.terms
	list, ok := x.get(term)
	rows := 0
	for _, v := range views { // segments come before tails
		if _, flushed := v.Part.(*lexical.Segment); flushed && ok {
			continue
		} else if !flushed && !ok && rows >= termRows {
			list, ok = x.put(term, slices.Clone(l.list), termShare*len(p.of)), true
			l.begin(len(p.sessions.all))
		}
		n, err := l.addPostings(p, v, term)
		if err != nil {
			return nil, err
		}
		rows += n
	}
	switch {
	case !ok:
		return l.list, nil
	case len(l.list) == 0:
		return list, nil
	}
	for _, s := range list {
		l.add(s.session, s.tf)
	}
	return l.list, nil
}
