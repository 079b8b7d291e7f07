package workspace

import "context"

// Comparer compares versions of a workspace with what was said before them; see package change.
type Comparer interface {
	// Generation names the deciders: versions that were compared under another one are compared again.
	Generation() int64
	// Compare compares versions, which are found by the vectors of m in v.
	Compare(ctx context.Context, sp *Space, v *Serving, m *Model, nums []int64) error
}

// Uncompared says that versions are about to be searchable that were not compared.
func (sp *Space) Uncompared(nums []int64) { sp.comparing.announce(nums) }

// Compared reports whether every memory was compared. False may mean that it is not known yet.
func (sp *Space) Compared() bool { return sp.comparing.done() }

// ToCompare reports whether memories of a space were not compared yet.
func (s *Set) ToCompare(ctx context.Context, sp *Space, c Comparer) (bool, error) {
	if sp.Compared() {
		return false, nil
	}
	after, gen := sp.comparing.at()
	nums, err := sp.Store.Uncompared(ctx, c.Generation(), after, 1)
	if err == nil && len(nums) == 0 {
		sp.comparing.advance(gen, after, true)
	}
	return len(nums) > 0, err
}

// FewToCompare reports whether memories were completed since the space was opened, and at most n of the space were not compared yet. To
// find out for one that was just opened would take reading every version.
func (s *Set) FewToCompare(ctx context.Context, sp *Space, c Comparer, n int) (bool, error) {
	after, gen := sp.comparing.at()
	if gen == 0 {
		return false, nil
	}
	nums, err := sp.Store.Uncompared(ctx, c.Generation(), after, n+1)
	return len(nums) <= n, err
}

// Compare compares at most n memories that were not compared yet, and reports whether more is to be done. Those that wait
// for better vectors are compared when they have them.
func (s *Set) Compare(ctx context.Context, sp *Space, c Comparer, n int) (more bool, err error) {
	v := sp.Use()
	defer v.Done()
	if v.Model < 0 || v.Refiner != nil && !sp.Refined() {
		return false, nil // asked again when it is embedded
	}
	if err := sp.Follower.Sync(ctx); err != nil { // memories are compared with all that was said before
		return true, err
	}
	after, gen := sp.comparing.at()
	nums, err := sp.Store.Uncompared(ctx, c.Generation(), after, n)
	if err != nil {
		return false, err
	}
	if len(nums) == 0 {
		sp.comparing.advance(gen, after, true)
		return !sp.Compared(), nil
	}
	if err := c.Compare(ctx, sp, v, s.modelOf(v), nums); err != nil {
		return true, err
	}
	sp.comparing.advance(gen, nums[len(nums)-1], false)
	return true, nil
}

// modelOf returns the embedder of the best vectors that a workspace is searched by.
func (s *Set) modelOf(v *Serving) *Model {
	if v.Refined != 0 {
		return &s.Models[v.Refined]
	}
	return &s.Models[v.Model]
}
