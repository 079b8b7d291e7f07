package graph

import (
	"github.com/contextmem/contextmem/backend"
)

// relationBatch is the number of relations that a listing reads in one call.
const relationBatch = 2000

// Listing asks for the relations of a partition, including retired ones.
type Listing struct {
	Part    backend.Partition
	Sources []int64 // numbers of versions; only relations with evidence in them; nil for all
	After   int64   // cursor of the page before; 0 for the first page
	Limit   int     // maximum number of groups
	Filter  backend.Filter
}

// Group holds the relations between two entities, or between an entity and a literal.
type Group struct{ Links []Link }

// Page is a page of a listing.
type Page struct {
	Groups    []Group
	Truncated bool
	Next      int64 // cursor of the next page; 0 if there is none
}

// List returns the relations of a partition in groups. The cursor of a page is the number of its last relation, so that the next page skips none.
func (r *Reader) List(q Listing) (*Page, error) {
	page := new(Page)
	at := map[[2]int64]int{}
	rq := backend.RelationQuery{Part: q.Part, Sources: q.Sources, After: q.After, AllTime: true, Limit: relationBatch}
	for {
		rels, last, more, err := r.Relations(rq)
		if err != nil {
			return nil, err
		}
		visible, err := r.Load(rels, q.Filter)
		if err != nil {
			return nil, err
		}
		for _, l := range visible {
			key := [2]int64{l.From, l.To}
			i, ok := at[key]
			if !ok || l.To == 0 {
				if len(page.Groups) == q.Limit {
					page.Truncated, page.Next = true, rq.After
					return page, nil
				}
				i = len(page.Groups)
				at[key] = i
				page.Groups = append(page.Groups, Group{})
			}
			page.Groups[i].Links = append(page.Groups[i].Links, l)
			rq.After = l.Num
		}
		rq.After = last
		if !more {
			return page, nil
		}
	}
}
