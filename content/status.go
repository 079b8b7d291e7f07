package content

// Status is the processing state of an item.
type Status string

// States of an item. It can be recalled from StatusGraphCreation on.
const (
	StatusQueued        Status = "queued"
	StatusProcessing    Status = "processing"
	StatusGraphCreation Status = "graph_creation"
	StatusCompleted     Status = "completed"
	StatusErrored       Status = "errored"
	StatusFailed        Status = "failed"  // not accepted; only in an IngestItem
	StatusSkipped       Status = "skipped" // left out as KnowledgeBatch asks; only in an IngestItem
)

// Terminal reports whether the state is final.
func (s Status) Terminal() bool {
	return s == StatusCompleted || s == StatusErrored || s == StatusFailed
}

// ItemStatus is the state of an item.
type ItemStatus struct {
	ID           string
	Class        Class
	Status       Status
	ErrorCode    string // E####; may be set on an item that waits for a retry
	ErrorMessage string
	Attempts     int
	Unknown      bool // no such item in this scope; Status is StatusErrored and ErrorCode FILE_NOT_FOUND
	Hint         string
	// Partial says why the text of an item that is completed may be incomplete; empty means that it is whole.
	Partial string
	// ReadPages of TotalPages were read of an item that is being processed, a scan for instance whose pages are recognised;
	// TotalPages is 0 when unknown, both are while nothing counts.
	ReadPages, TotalPages int
	// ServesOlder reports whether recall still finds the version that this one is to replace: until this one is indexed,
	// and for good while it is errored. Such hits have a Chunk.Newer.
	ServesOlder bool
	// Warnings lists what a completed item lacks: instructions that were not followed (code "unheeded_instruction", one
	// for each). Items that are not completed have none.
	Warnings []Warning
}

// Warning says that a call did less or something else than requested.
type Warning struct {
	Code    string // stable, lower_snake: ignored_filter, unmatched_filter, ignored_flag, degraded, damaged, resolved, hint
	Field   string // as fault.Error.Field; may be empty
	Message string
}
