// Package backend defines the interfaces of the storage backends of contextmem. It
// contains contracts, as types and prose, and no implementation.
//
// # Store and indexes
//
// A [Store] keeps the data of a workspace: sources, chunks with their vectors,
// graph rows, item states and outgoing events. It changes them in transactions.
// [Vectors], [Keywords] and [Graph] are indexes: they can be deleted at any time
// and are rebuilt from the Store's change feed. Every change has a sequence number,
// and every index stores the last one that it has applied. No transaction spans
// a Store and an index. After a crash an index may lag behind, and the next open
// applies the missing changes.
//
// # Isolation
//
// A [Workspace] is opened for one tenant and none of its methods takes a tenant
// id, so a query across tenants cannot be written. The workspace's name (UID) is
// 32 lower-case hexadecimal characters, chosen by the caller at random and safe
// as a file name; ids that users choose never reach a path.
//
// # Rules that hold for every method
//
//   - ctx bounds the call. A call whose ctx ends before its transaction begins
//     changes nothing and returns the ctx's error unchanged. Once a transaction
//     has begun to commit, it commits, and the call reports its result.
//   - A method that changes data is atomic and durable. If it returns nil, all
//     changes are stored. If it returns an error, no change is stored.
//   - All methods may be called from any number of goroutines at once, Close
//     included; after Close they return [ErrClosed].
//   - Bytes and strings are stored verbatim, whatever they contain. A method
//     neither keeps nor changes slices that it is given. Returned slices belong
//     to the caller.
//   - Times are UTC with a resolution of microseconds. The zero Time is stored
//     as "none".
//   - A method for one record returns [ErrNotFound] if the record is missing. A
//     method for several records leaves a missing one out of its result, or
//     returns nil for it.
package backend

import "context"

// Backend opens the registry of a deployment and its workspaces.
type Backend interface {
	// Registry returns the deployment's registry; it lives as long as the Backend.
	Registry() Registry
	// OpenWorkspace opens the workspace uid, and creates it if it is missing. The
	// caller opens a uid at most once at a time and closes it before Close.
	OpenWorkspace(ctx context.Context, uid string) (Workspace, error)
	// RemoveWorkspace deletes all data of the workspace uid, which must not be
	// open. Removing a missing workspace is no error, so that an interrupted
	// removal can be repeated.
	RemoveWorkspace(ctx context.Context, uid string) error
	// Close releases the deployment. It waits for running calls.
	Close() error
}

// Workspace is one tenant's store and its indexes.
type Workspace interface {
	// Store returns the store.
	Store() Store
	// Vectors returns the dense index.
	Vectors() Vectors
	// Keywords returns the keyword index.
	Keywords() Keywords
	// Graph returns the index of entities and neighbours.
	Graph() Graph
	// Indexes lists the distinct followers of the change feed. One value may
	// serve as Vectors, Keywords and Graph; it is listed once.
	Indexes() []Index
	// Close releases the workspace.
	Close() error
}

// Stores is the part of a Backend that has the stores.
type Stores interface {
	// Registry returns the registry of the deployment.
	Registry() Registry
	// OpenStore opens the store of the workspace uid, and creates it if it is missing.
	// The caller opens a uid at most once at a time.
	OpenStore(ctx context.Context, uid string) (Store, error)
	// RemoveStore deletes the store of the workspace uid, which must not be open.
	// Removing a missing store is no error.
	RemoveStore(ctx context.Context, uid string) error
	Close() error
}

// IndexSet is the indexes of one workspace.
type IndexSet interface {
	// Vectors returns the dense index.
	Vectors() Vectors
	// Keywords returns the keyword index.
	Keywords() Keywords
	// Graph returns the index of entities and neighbours.
	Graph() Graph
	// Indexes lists the distinct followers of the change feed; one value that
	// serves in several roles is listed once.
	Indexes() []Index
	Close() error
}

// Indexers is the part of a Backend that has the indexes.
type Indexers interface {
	// OpenIndexes opens the indexes of the workspace uid, and creates missing ones. The
	// caller opens a uid at most once at a time.
	OpenIndexes(ctx context.Context, uid string) (IndexSet, error)
	// RemoveIndexes deletes the indexes of the workspace uid, which must not be
	// open. Removing missing indexes is no error.
	RemoveIndexes(ctx context.Context, uid string) error
	Close() error
}
