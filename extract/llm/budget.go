package llm

import (
	"sync"
	"time"
)

// budget counts tokens per UTC day.
type budget struct {
	limit int64 // 0 for none
	now   func() time.Time

	mu   sync.Mutex
	day  time.Time
	used int64
}

// reserve takes n tokens of today's budget; false if they are not there.
func (b *budget) reserve(n int64) bool {
	if b.limit == 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if today := b.now().UTC().Truncate(24 * time.Hour); !today.Equal(b.day) {
		b.day, b.used = today, 0
	}
	if b.used+n > b.limit {
		return false
	}
	b.used += n
	return true
}

// settle replaces an estimate by what was used.
func (b *budget) settle(reserved, used int64) {
	if b.limit == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = max(0, b.used-reserved+used)
}
