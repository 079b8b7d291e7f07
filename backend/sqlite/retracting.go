package sqlite

// maxRetracting is how many relations that retract others there may be for their subjects to be remembered.
const maxRetracting = 4096

// retracting is which entities may be subjects of relations that retract others. There are few, and each new relation asks.
type retracting struct {
	of     map[int64]struct{}
	loaded bool
}

func (r *retracting) add(entity int64) {
	if !r.loaded {
		return
	}
	if len(r.of) >= maxRetracting {
		*r = retracting{}
		return
	}
	r.of[entity] = struct{}{}
}

// retracts reports whether an entity may be the subject of a relation that retracts others.
func (t *tx) retracts(entity int64) (bool, error) {
	r := &t.retracting
	if t.led.Retractions > maxRetracting {
		*r = retracting{}
		return true, nil
	}
	if !r.loaded {
		r.of = make(map[int64]struct{})
		err := t.c.each(bg, "SELECT from_id FROM relations INDEXED BY relations_retracting WHERE flags > 1", func(row *row) error {
			r.of[row.int(0)] = struct{}{}
			return nil
		})
		if err != nil {
			return false, err
		}
		r.loaded = true
	}
	_, may := r.of[entity]
	return may, nil
}
