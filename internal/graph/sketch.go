package graph

import (
	"cmp"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// sketchable reports whether relations may be read without their texts: only those that are shown, or whose chunk holds a word of the question,
// are then read whole. This needs an index that knows the words of chunks, and a query of the present.
func (g *builder) sketchable() bool {
	_, ok := g.Keywords.(backend.WordFinder)
	return ok && g.lazy() && g.AsOf.IsZero() && g.KnownAt.IsZero()
}

// spell reads those of the sketched relations whole whose context may hold a word of the question. The contexts of the others hold none.
func (g *builder) spell(part backend.Partition, ls []Link) ([]Link, error) {
	var some []*Link
	var chunks []int64
	for i := range ls {
		if l := &ls[i]; l.Sketch {
			some, chunks = append(some, l), append(chunks, l.Chunk)
		}
	}
	if len(some) == 0 || len(g.words.left) == 0 {
		return ls, nil
	}
	terms := g.words.terms(g.Query)
	has := make([]bool, len(chunks))
	if err := g.Keywords.(backend.WordFinder).FindWords(g.ctx, part, terms, chunks, has); err != nil {
		return nil, err
	}
	kept := some[:0]
	for i, l := range some {
		if has[i] || l.Apart {
			kept = append(kept, l)
		}
	}
	if err := g.complete(part, kept); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(ls, func(l Link) bool { return l.Relation == nil }), nil
}

// complete reads sketched relations whole. It sets Relation of those to nil that are gone.
func (g *builder) complete(part backend.Partition, ls []*Link) error {
	var nums []int64
	for _, l := range ls {
		if l.Sketch {
			nums = append(nums, l.Num)
		}
	}
	if len(nums) == 0 {
		return nil
	}
	whole, err := g.store.(backend.RelationSketcher).RelationsByNum(g.ctx, part, nums)
	if err != nil {
		return err
	}
	for _, l := range ls {
		if !l.Sketch {
			continue
		}
		at, ok := slices.BinarySearchFunc(whole, l.Num, func(r *backend.Relation, num int64) int { return cmp.Compare(r.Num, num) })
		if l.Relation = nil; ok {
			l.Relation = whole[at]
		}
	}
	return nil
}
