package backend

import "context"

// Store stores all data of a workspace. Every index can be rebuilt from it. Each part is a
// small interface, so that a function can require only the methods that it needs.
type Store interface {
	Intake
	Work
	Read
	GraphStore
	Lanes
	Successions
	Feed

	// Get returns a small value of the workspace, such as the identity of its embedder. It
	// returns nil, nil if there is none.
	Get(ctx context.Context, name string) ([]byte, error)
	// Set replaces old, the value that the caller has read. It returns [ErrConflict] when
	// the stored value differs from old. An empty old or value means "no value".
	Set(ctx context.Context, name string, old, value []byte) error
	// Close releases the store.
	Close() error
}
