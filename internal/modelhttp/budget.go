package modelhttp

import (
	"sync"
	"time"
)

// Budget limits the number of tokens per UTC day. The zero value has no limit. It is safe for concurrent use.
type Budget struct {
	Limit int64            // tokens per day; 0: no limit
	Now   func() time.Time // nil: time.Now

	mu   sync.Mutex
	day  time.Time
	used int64
}

// Reserve takes n tokens from today's budget. It returns false if fewer are left.
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

// Settle replaces a reservation by the number of tokens used.
func (b *Budget) Settle(reserved, used int64) {
	if b.Limit == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = max(0, b.used-reserved+used)
}
