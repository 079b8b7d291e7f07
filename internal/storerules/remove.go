package storerules

import "github.com/contextmem/contextmem/backend"

// Delete carries out deletions one after the other, in the transaction that items and events delete in.
func Delete(all []backend.Deletion, items func(backend.Partition, []string, backend.DeleteOptions) ([]backend.DeleteResult, error), events func(sub string, ids []string) (int, error)) (out []backend.Deleted, err error) {
	out = make([]backend.Deleted, len(all))
	for i := range all {
		d := &all[i]
		if out[i].Items, err = items(d.Part, d.IDs, d.DeleteOptions); err != nil {
			return nil, err
		}
		if !d.Events {
			continue
		}
		if out[i].Events, err = events(d.Part.Sub, d.IDs); err != nil {
			return nil, err
		}
	}
	return out, nil
}
