package pipeline

import (
	"context"
	"errors"

	"github.com/contextmem/contextmem/backend"
)

// follows reports whether an index has applied only what its Store holds. If that seems not to be so, the Store is asked: another process
// may have written since it was opened, and this index, which all processes share, may have applied that.
func (f *Follower) follows(ctx context.Context, s backend.Index) (bool, error) {
	looksSo := func() bool { return s.Applied() <= f.store.LastSeq() && f.sameHistory(s) }
	if looksSo() {
		return true, nil
	}
	if _, err := f.store.Changes(ctx, s.Applied(), 1); err != nil && !errors.Is(err, backend.ErrFeedGone) {
		return false, err
	}
	return looksSo(), nil
}

// sameHistory reports whether an index applied what its Store holds, as far as both can tell.
func (f *Follower) sameHistory(s backend.Index) bool {
	st, tells := f.store.(backend.Epochs)
	if h, ok := s.(backend.HistoryChecker); ok && tells && !h.SameHistory(f.store.LastSeq(), st) {
		return false
	}
	at := s.Applied()
	k, keeps := s.(backend.EpochKeeper)
	if at == 0 || !keeps || !tells {
		return true
	}
	epoch, ok := k.Epoch()
	return !ok || epoch == st.EpochOf(at)
}

// setEpoch sets in an index the epoch of the changes up to seq, which it applies next.
func (f *Follower) setEpoch(s backend.Index, seq uint64) {
	k, keeps := s.(backend.EpochKeeper)
	st, tells := f.store.(backend.Epochs)
	if keeps && tells {
		k.SetEpoch(st.EpochOf(seq))
	}
}
