package profile

import (
	"cmp"
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// DefaultSubject is the speaker of memories that name none.
const DefaultSubject = "User"

// newestSaid is the number of memories, the newest of a sub-tenant, among which a profile without a subject looks for its speaker.
const newestSaid = 50

// speaker returns whom most of the newest memories that the caller may see name as their speaker, of several the one who spoke last.
// It returns DefaultSubject if there are none.
func (a *asked) speaker(ctx context.Context) (string, error) {
	if a.part.Class != backend.Memory {
		return DefaultSubject, nil
	}
	srcs, _, err := a.store.List(ctx, backend.ListQuery{Part: a.part, Filter: a.visible, Limit: newestSaid, Now: a.now})
	if err != nil {
		return "", err
	}
	most, said := DefaultSubject, map[string]int{}
	names := make([]string, 0, len(srcs))
	for _, src := range srcs {
		doc, err := item.Decode(src.Doc)
		if err != nil {
			continue // the record is damaged, which verification reports
		}
		name := cmp.Or(doc.UserName, DefaultSubject)
		names = append(names, name)
		said[name]++
	}
	for _, name := range names {
		if said[name] > said[most] {
			most = name
		}
	}
	return most, nil
}
