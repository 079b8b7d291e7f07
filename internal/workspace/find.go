package workspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
)

// Classes returns the classes of the store to search, in order. 0 means both.
func Classes(op string, c content.Class) ([]backend.Class, error) {
	switch c {
	case 0, content.ClassAll:
		return []backend.Class{backend.Knowledge, backend.Memory}, nil
	case content.ClassKnowledge, content.ClassMemory:
		return []backend.Class{backend.Class(c)}, nil
	}
	return nil, ClassError(op, c)
}

// ClassError returns the error for a class that a call does not support.
func ClassError(op string, c content.Class) error {
	return fault.Fieldf(op, fault.KindInvalid, "", "Class", "unknown class %d", c)
}

// SourceError is the error for a source that could not be found or read.
func SourceError(op string, class content.Class, id string, err error) error {
	res := fault.Source
	if class == content.ClassMemory {
		res = fault.Memory
	}
	if errors.Is(err, backend.ErrNotFound) {
		return &fault.Error{Op: op, Kind: fault.KindNotFound, Resource: res, ID: fault.ShortID(id), Err: fmt.Errorf("%s not found", res)}
	}
	return fault.Wrap(op, res, id, err)
}

// Find returns the newest version of an id in the classes to search, if the principals may see it.
func (sp *Space) Find(ctx context.Context, op, sub string, c content.Class, id string, principals []string) (*backend.Source, error) {
	cs, err := Classes(op, c)
	if err != nil {
		return nil, err
	}
	if id == "" {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Source, "ID", "is required")
	}
	visible := item.Visible(principals)
	for _, class := range cs {
		srcs, err := sp.Store.Sources(ctx, backend.Partition{Class: class, Sub: sub}, []string{id})
		if err != nil {
			return nil, fault.Wrap(op, fault.Source, id, err)
		}
		src := srcs[0]
		if src == nil || item.Expired(src, time.Now()) || (visible != nil && !item.Live(backend.Filter{All: [][]uint64{visible}}, src.Tags)) {
			continue
		}
		return src, nil
	}
	return nil, SourceError(op, c, id, backend.ErrNotFound)
}
