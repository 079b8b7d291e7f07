package backend

import "context"

// JointDeleter is a [Store] that can delete items of several partitions in one transaction.
//
// If a Store does not implement JointDeleter, each [Deletion] is a transaction of its own, and some may be carried out when a later one fails.
type JointDeleter interface {
	// DeleteJointly carries out all deletions, or none when it returns an error. The results are in the order of the deletions.
	DeleteJointly(ctx context.Context, all []Deletion) ([]Deleted, error)
}

// Deletion names items of a partition to delete.
type Deletion struct {
	Part Partition
	IDs  []string
	DeleteOptions
	// Events removes the events in the outbox of these ids, in all classes of the sub-tenant, found or not. Only a [JointDeleter] does so.
	Events bool
}

// Deleted is the result of a Deletion.
type Deleted struct {
	Items  []DeleteResult // in the order of the ids
	Events int            // events removed
}

// DeleteJointly deletes items of several partitions: in one transaction if the Store is a [JointDeleter]. When it returns an error, it returns
// the results of the deletions that were carried out.
func DeleteJointly(ctx context.Context, s Store, all []Deletion) (out []Deleted, err error) {
	if j, ok := s.(JointDeleter); ok {
		return j.DeleteJointly(ctx, all)
	}
	for i := range all {
		items, err := s.Delete(ctx, all[i].Part, all[i].IDs, all[i].DeleteOptions)
		if err != nil {
			return out, err
		}
		out = append(out, Deleted{Items: items})
	}
	return out, nil
}
