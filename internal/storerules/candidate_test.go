package storerules

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFitting(t *testing.T) {
	t.Parallel()
	found := []Candidate{{1, 50}, {2, 30}, {3, 20}, {4, 1}}
	for most, want := range map[int64]int{0: 4, 10: 1, 50: 1, 79: 1, 80: 2, 100: 3, 101: 4} {
		assert.Len(t, Fitting(found, most), want, most)
	}
	assert.Empty(t, Fitting(nil, 10))
}
