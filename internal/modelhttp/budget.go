package modelhttp

import (
	"sync"
	"time"
)

// Budget counts tokens per UTC day. Its zero value has no bound. It is safe for concurrent use.
type Budget struct {
	Limit int64            // a day; 0 for none
	Now   func() time.Time // nil: time.Now

	mu   sync.Mutex
	day  time.Time
	used int64
}

// Reserve takes n tokens of today's budget; false if they are not there.
func (b *Budget) Reserve(n int64) bool {
	if b.Limit == 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now
	if b.Now != nil {
		now = b.Now
	}
	if today := now().UTC().Truncate(24 * time.Hour); !today.Equal(b.day) {
		b.day, b.used = today, 0
	}
	if b.used+n > b.Limit {
		return false
	}
	b.used += n
	return true
}

// Settle replaces an estimate by what was used.
func (b *Budget) Settle(reserved, used int64) {
	if b.Limit == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = max(0, b.used-reserved+used)
}
