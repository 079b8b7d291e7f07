package storerules

import (
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

// aliases maps keys of a partition to the keys into which they were merged.
type aliases struct {
	into   map[string]string
	behind map[string]int // key -> number of keys merged into it
}

func (a *aliases) add(key, into string) {
	a.remove(key)
	if a.into == nil {
		a.into, a.behind = make(map[string]string), make(map[string]int)
	}
	a.into[key] = into
	a.behind[into]++
}

func (a *aliases) remove(key string) {
	into, ok := a.into[key]
	if !ok {
		return
	}
	delete(a.into, key)
	if a.behind[into]--; a.behind[into] == 0 {
		delete(a.behind, into)
	}
}

// chain returns a key followed by the keys into which it was merged, in order.
func (t *Tx) chain(part int64, key string) ([]string, error) {
	aliases, err := t.aliasesOf(part)
	if err != nil {
		return nil, err
	}
	keys := []string{key}
	for next, ok := aliases.into[key]; ok; next, ok = aliases.into[next] {
		if keys = append(keys, next); len(keys) > len(aliases.into)+1 {
			return nil, fmt.Errorf("aliases lead into one another: %w", backend.ErrCorrupt)
		}
	}
	return keys, nil
}

// aliasesOf returns the aliases of a partition. Few partitions have any.
func (t *Tx) aliasesOf(part int64) (*aliases, error) {
	if m, ok := t.aliases[part]; ok {
		return m, nil
	}
	if len(t.aliases) >= partCache {
		clear(t.aliases)
	}
	m := new(aliases)
	err := t.Rows.Aliases(part, m.add)
	if err == nil {
		t.aliases[part] = m
	}
	return m, err
}
