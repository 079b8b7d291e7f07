package neural

import (
	"math"
	"strings"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// kept is an LRU cache of the vectors of texts, bounded in bytes. It is safe for concurrent use. A nil *kept caches
// nothing.
type kept struct {
	mu    sync.Mutex
	limit int
	bytes int
	texts *simplelru.LRU[want, encoded]
}

// perText estimates the bytes of a cached text without its bytes and its vectors.
const perText = 128

func newKept(limit int) (*kept, error) {
	k := &kept{limit: limit}
	var err error
	k.texts, err = simplelru.NewLRU(math.MaxInt32, func(text want, v encoded) { k.bytes -= size(text, v) })
	return k, err
}

func size(text want, v encoded) int {
	return perText + len(text.text) + v.text.Bytes() + v.question.Bytes() + v.passage.Bytes()
}

// get returns the cached value of a text, and reports whether it is cached.
func (k *kept) get(text want) (encoded, bool) {
	if k == nil {
		return encoded{}, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.texts.Get(text)
}

// put keeps a text.
func (k *kept) put(text want, v encoded) {
	if k == nil {
		return
	}
	need := size(text, v)
	if need > k.limit {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.texts.Contains(text) {
		return
	}
	for k.bytes+need > k.limit {
		k.texts.RemoveOldest()
	}
	text.text = strings.Clone(text.text)
	k.texts.Add(text, v)
	k.bytes += need
}
