package profile

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/graph"
)

// RestoreFact makes a superseded fact hold again, and returns its new state.
func (e *Engine) RestoreFact(ctx context.Context, st backend.Store, sub string, class content.Class, id string) (*facts.Fact, error) {
	return e.change(ctx, "restore fact", st, sub, class, id, graph.RestoreFact)
}

// RetireFact undoes RestoreFact, and returns the new state of the fact.
func (e *Engine) RetireFact(ctx context.Context, st backend.Store, sub string, class content.Class, id string) (*facts.Fact, error) {
	return e.change(ctx, "retire fact", st, sub, class, id, graph.RetireFact)
}

func (e *Engine) change(ctx context.Context, op string, st backend.Store, sub string, class content.Class, id string,
	f func(context.Context, backend.Store, backend.Partition, int64) error) (*facts.Fact, error) {
	a, err := ask(op, st, sub, class, nil)
	if err != nil {
		return nil, err
	}
	num := numberOf(id)
	if num == 0 {
		return nil, factError(op, id, backend.ErrNotFound)
	}
	if err := f(ctx, st, a.part, num); err != nil {
		return nil, factError(op, id, err)
	}
	links, release, _, _, err := a.links(ctx, backend.RelationQuery{Part: a.part, After: num - 1, AllTime: true, Limit: 1})
	if err != nil {
		return nil, factError(op, id, err)
	}
	defer release()
	if len(links) == 0 || links[0].Num != num { // the fact was deleted meanwhile
		return nil, factError(op, id, backend.ErrNotFound)
	}
	found, _ := e.fact(&links[0], a.now, time.Time{}, nil)
	return &found, nil
}

// numberOf returns the number in the id of a fact, or 0 if the id is invalid.
func numberOf(id string) int64 {
	n, err := strconv.ParseInt(id[strings.LastIndexByte(id, '_')+1:], 10, 64)
	if err != nil || n < 1 || graph.RelationID(n) != id {
		return 0
	}
	return n
}

func factError(op, id string, err error) error {
	id = fault.ShortID(id)
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return &fault.Error{Op: op, Kind: fault.KindNotFound, ID: id, Err: errors.New("there is no such fact")}
	case errors.Is(err, graph.ErrHolds), errors.Is(err, graph.ErrNotRestored), errors.Is(err, graph.ErrTooMany):
		return &fault.Error{Op: op, Kind: fault.KindConflict, ID: id, Err: err}
	}
	return fault.Wrap(op, fault.Search, "", err)
}
