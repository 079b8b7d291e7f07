package pipeline

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCommitsAreShorterForThoseWhoWait checks that commits are short for a while after a search, and not long after a call that stored few
// items.
func TestCommitsAreShorterForThoseWhoWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &Follower{}
		require.Equal(t, math.MaxInt, publishSize(f))
		f.Writes(fewItems + 1)
		require.Equal(t, math.MaxInt, publishSize(f))
		f.Writes(1)
		require.Equal(t, besideItems, publishSize(f))
		f.searched.Store(time.Now().UnixNano())
		require.Equal(t, publishItems, publishSize(f))
		time.Sleep(watchedFor)
		require.Equal(t, math.MaxInt, publishSize(f))
	})
}
