package document

import "time"

// Default limits, used where a field of [Limits] is zero.
const (
	// DefaultMaxInput is 128 MiB.
	DefaultMaxInput int64 = 128 << 20
	// DefaultMaxOutput is 16 MiB of text, about eight thousand printed pages; a larger input may have as much text
	// as it has bytes, up to twice that.
	DefaultMaxOutput int64 = 16 << 20
	// DefaultMaxExpanded is 256 MiB.
	DefaultMaxExpanded int64 = 256 << 20
	// DefaultMaxDepth is 200 levels.
	DefaultMaxDepth = 200
	// DefaultMaxRatio is 250: ten times what office documents usually reach, a quarter of deflate's greatest ratio.
	DefaultMaxRatio = 250
	// DefaultMaxEntries is 10,000 files in a container.
	DefaultMaxEntries = 10_000
	// DefaultTimeout is 30 seconds.
	DefaultTimeout = 30 * time.Second
)

// Limits bounds the work on one document. The zero value of a field is the default of the same name.
type Limits struct {
	// MaxInput is the greatest size of the input in bytes; beyond it the document is refused (LimitExceeded).
	MaxInput int64
	// MaxOutput is the greatest size of the text in bytes. A longer text is cut off, and Partial says so.
	MaxOutput int64
	// MaxExpanded is the greatest total size in bytes of the data unpacked from a container.
	MaxExpanded int64
	// MaxDepth bounds nesting of elements, groups, values and mail parts.
	MaxDepth int
	// MaxRatio bounds the ratio of unpacked to packed size of an entry. It applies once 4 MiB were unpacked.
	MaxRatio int
	// MaxEntries bounds the files in a container.
	MaxEntries int
	// Timeout bounds the time; negative means that only the context bounds it.
	Timeout time.Duration
}

// WithDefaults returns l with its zero fields replaced by the defaults for an input of size bytes.
func (l Limits) WithDefaults(size int64) Limits {
	if l.MaxInput <= 0 {
		l.MaxInput = DefaultMaxInput
	}
	if l.MaxOutput <= 0 {
		l.MaxOutput = max(DefaultMaxOutput, min(size, 2*DefaultMaxOutput))
	}
	if l.MaxExpanded <= 0 {
		l.MaxExpanded = DefaultMaxExpanded
	}
	if l.MaxDepth <= 0 {
		l.MaxDepth = DefaultMaxDepth
	}
	if l.MaxRatio <= 0 {
		l.MaxRatio = DefaultMaxRatio
	}
	if l.MaxEntries <= 0 {
		l.MaxEntries = DefaultMaxEntries
	}
	if l.Timeout == 0 {
		l.Timeout = DefaultTimeout
	}
	return l
}
