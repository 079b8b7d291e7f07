package content

import "time"

// Replacement is the reason why a version of an item was replaced.
type Replacement string

// Kinds of replacements. A change of metadata alone makes no version.
const (
	ByAdd     Replacement = "add"     // the item was added again
	ByEdit    Replacement = "edit"    // UpdateMemory
	ByRestore Replacement = "restore" // RestoreVersion
)

// HistoryRequest asks for the versions of an item.
type HistoryRequest struct {
	Class Class // 0: whichever has the ID
	ID    string
	// Principals leaves out versions that none of them may see, and changes from such versions. Nil: all versions.
	Principals []string
}

// History is the versions of an item, the newest first.
type History struct {
	ID       string
	Class    Class
	Versions []PastVersion
}

// PastVersion is the content of a version of an item.
type PastVersion struct {
	Version    int // from 1; the newest is the largest
	Title      string
	Session    string
	Time       time.Time   // of the content; zero: unknown
	Stored     time.Time   // when the version was accepted, or its metadata last edited
	Replaced   time.Time   // when the next one was accepted; zero for the newest
	ReplacedBy int         // version; 0 for the newest
	Cause      Replacement // of the replacement; empty for the newest
	SizeBytes  int64
	Text       string // empty for binary content without an extracted text
	// Lost reports that the content was too large to be kept; the version cannot be restored.
	Lost bool
	// Changes lists the differences between the Text of the preceding version in the list and this version's Text. It is nil if there is no preceding version, or one of the texts is empty.
	Changes []Difference
}

// Difference is a run of sentences that two versions share, or that one of them alone has.
type Difference struct {
	Kind DifferenceKind
	Text string // with the white space between the sentences
}

// DifferenceKind says which of the two texts has the text of a Difference.
type DifferenceKind string

// Kinds of differences.
const (
	Same    DifferenceKind = "same"
	Added   DifferenceKind = "added"
	Removed DifferenceKind = "removed"
)

// RestoreVersionRequest names an earlier version of an item.
type RestoreVersionRequest struct {
	Class      Class // 0: whichever has the ID
	ID         string
	Version    int      // of PastVersion
	Principals []string // as in HistoryRequest
}
