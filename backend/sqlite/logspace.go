package sqlite

import (
	"errors"
	"os"
)

// logBytes is about the size of a log of walPages. logLimit is the size to which a log is truncated
// after a large commit.
const (
	logBytes = walPages * (4096 + 24)
	logLimit = logBytes + maxLogSpace
)

// Bounds of preallocation in a write-ahead log, in bytes: the least size of the log, the size of a
// step, and the growth by one commit from which on there is no preallocation, since writing so large
// a commit costs more than growing the file.
const (
	minLogSpace  = 64 << 10
	maxLogSpace  = 256 << 10
	maxLogGrowth = 64 << 10
)

var zeros [64 << 10]byte

// logSpace preallocates space in a write-ahead log. A sync of a file that has grown also writes the
// file's length and block map, and takes 1.5 times as long as one of a file of constant length. SQLite
// grows its log with each commit up to its maximal size, and then starts again at the front. It
// ignores the bytes after the last commit, since they are there after every restart of the log too.
type logSpace struct {
	path string
	size int64 // last known size of the file
	off  bool  // preallocation failed before
}

func newLogSpace(db string) *logSpace { return &logSpace{path: db + "-wal"} }

// ahead preallocates space after a commit. The writer calls it. It ignores errors: if the disk is
// full, SQLite reports that when it needs space.
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
