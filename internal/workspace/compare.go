package workspace

import "context"

// Comparer compares memories of a workspace with earlier ones; see package change.
type Comparer interface {
	// Generation identifies the rules and models of the comparison. Versions compared under another generation are compared again.
	Generation() int64
	// Compare compares versions. It finds related ones by the vectors of m in v.
	Compare(ctx context.Context, sp *Space, v *Serving, m *Model, nums []int64) error
}

// Uncompared notes versions that are about to become searchable and were not compared.
func (sp *Space) Uncompared(nums []int64) { sp.comparing.announce(nums) }

// Compared reports whether every memory is known to be compared.
func (sp *Space) Compared() bool { return sp.comparing.done() }

// ToCompare reports whether a space has memories that were not compared.
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

// FewToCompare reports whether memories were completed since the space was opened, and at most n memories of the space were not compared. Without
// memories completed since, it returns false, since it would have to read every version.
func (s *Set) FewToCompare(ctx context.Context, sp *Space, c Comparer, n int) (bool, error) {
	after, gen := sp.comparing.at()
	if gen == 0 {
		return false, nil
	}
	nums, err := sp.Store.Uncompared(ctx, c.Generation(), after, n+1)
	return len(nums) <= n, err
}

// Compare compares at most n memories that were not compared, and reports whether there may be more. Memories that lack the
// vectors of the slow embedder are compared when they have them.
func (s *Set) Compare(ctx context.Context, sp *Space, c Comparer, n int) (more bool, err error) {
	v := sp.Use()
	defer v.Done()
	if v.Model < 0 || v.Refiner != nil && !sp.Refined() {
		return false, nil // called again when the memories are embedded
	}
	if err := sp.Follower.Sync(ctx); err != nil { // the indexes must have all earlier memories
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

// modelOf returns the embedder of the best vectors that searches of a workspace use.
func (s *Set) modelOf(v *Serving) *Model {
	if v.Refined != 0 {
		return &s.Models[v.Refined]
	}
	return &s.Models[v.Model]
}
