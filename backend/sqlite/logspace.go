package sqlite

import (
	"errors"
	"os"
)

// logBytes is about the size of a log of walPages, and logLimit that to which one that a large
// commit made longer is cut.
const (
	logBytes = walPages * (4096 + 24)
	logLimit = logBytes + maxLogSpace
)

// Bounds of the space that is made ahead in a write-ahead log, in bytes: from which size of the
// log on, how much at once, and after how large a growth by one commit none is, since that
// commit's own bytes cost more than the growing.
const (
	minLogSpace  = 64 << 10
	maxLogSpace  = 256 << 10
	maxLogGrowth = 64 << 10
)

var zeros [64 << 10]byte

// logSpace keeps a write-ahead log longer than what stands in it. A sync of a file that has
// grown writes the file's length and blocks as well, and takes half as long again as that of
// one whose bytes were there before; SQLite grows its log by the frames of each commit until it
// is as large as it gets, then starts again at its front. What follows the last commit means
// nothing to SQLite: it is there after every restart of the log too.
type logSpace struct {
	path string
	size int64 // of the file when it was last looked at
	off  bool  // space could not be made
}

func newLogSpace(db string) *logSpace { return &logSpace{path: db + "-wal"} }

// ahead is called after a commit by who writes. It helps or does nothing: where no space can be
// made, SQLite reports that when it needs some.
func (l *logSpace) ahead() {
	info, err := os.Stat(l.path)
	if err != nil {
		return
	}
	size := info.Size()
	grown := size - l.size
	l.size = size
	if !l.off && size < logBytes && grown > 0 && grown <= maxLogGrowth && size >= minLogSpace {
		more := min(size, maxLogSpace)
		if err := l.extend(size, more); err != nil {
			l.off = true
			return
		}
		l.size += more
	}
}

func (l *logSpace) extend(size, more int64) error {
	f, err := os.OpenFile(l.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	for end := size + more; err == nil && size < end; size += int64(len(zeros)) {
		_, err = f.WriteAt(zeros[:min(int64(len(zeros)), end-size)], size)
	}
	return errors.Join(err, f.Close())
}
