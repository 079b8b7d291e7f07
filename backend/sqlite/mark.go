package sqlite

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// SQLite reads a write-ahead log up to its first frame that is not whole, and takes what is behind it for the rest of a commit that a crash
// cut off. Where committed frames are damaged, or the log is cut or removed, it therefore opens an older state without a word. A mark beside the
// database has the numbers that the last commit gave out. It is written after the commit is durable and before its calls return, so it
// is never ahead of an unharmed database, even after a loss of power, which may lose the mark itself. A database whose numbers are lower lacks
// changes that were acknowledged.

// Suffixes of the files beside a database: its mark, and what its mark has told.
const (
	markSuffix = "-mark"
	lostSuffix = "-lost"
)

// highMark is the file of a store's mark. It is safe for concurrent use.
type highMark struct {
	path string

	mu     sync.Mutex
	f      *os.File // nil until the first commit, and after a failed write
	closed bool
	untold *loss // what the store lacks and could not be recorded
}

const (
	markMagic = "ctxmark1"
	markBytes = 8 + 6*8 + 4
)

// numbersOf returns those numbers of a store that rise with its changes and never fall.
func numbersOf(n *storerules.Numbers) [6]int64 {
	return [6]int64{n.Source, n.Seq, n.Event, n.Entity, n.Relation, n.Merge}
}

// write writes the numbers of a durable commit. If that fails the mark is only older, and the next commit writes it.
func (m *highMark) write(n *storerules.Numbers) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.tell() != nil { // the mark still says what the store lacks
		return
	}
	if m.f == nil {
		f, err := os.OpenFile(m.path, os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			return
		}
		m.f = f
	}
	b := append(make([]byte, 0, markBytes), markMagic...)
	for _, x := range numbersOf(n) {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	if _, err := m.f.WriteAt(binary.LittleEndian.AppendUint32(b, storerules.Checksum(b)), 0); err != nil {
		_ = m.f.Close()
		m.f = nil
	}
}

// close closes the file. Nothing is written after that.
func (m *highMark) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.f == nil {
		return nil
	}
	err := m.f.Close()
	m.f = nil
	return err
}

// loss is a record of what a store lacked when it was opened.
type loss struct {
	At      time.Time `json:"at"`
	Items   int64     `json:"items"`   // versions of items
	Changes int64     `json:"changes"` // entries of the feed, and others that are not in it
	Mark    uint32    `json:"mark"`    // checksum of the mark that said so
	Written time.Time `json:"written"` // when that mark was written
}

func (x *loss) String() string {
	return fmt.Sprintf("when it was opened at %s, the store lacked %d versions of items and %d other changes that it had acknowledged: its write-ahead log was cut or damaged, or an older copy was put in its place; "+
		"restore a backup, or ingest again what was added before that time, and then remove store.db%s", x.At.Format(time.RFC3339), x.Items, x.Changes, lostSuffix)
}

// check compares the numbers of a database that was just opened with its mark. If the database lacks changes, it records that beside the
// database and sets the mark to what there is. A mark that cannot be read says nothing.
func (m *highMark) check(n *storerules.Numbers) {
	b, err := os.ReadFile(m.path)
	if err != nil || len(b) < markBytes || string(b[:8]) != markMagic {
		return
	}
	x := loss{At: time.Now().UTC().Truncate(time.Second), Mark: binary.LittleEndian.Uint32(b[markBytes-4:])}
	if storerules.Checksum(b[:markBytes-4]) != x.Mark {
		return // a loss of power has cut it off
	}
	if info, err := os.Stat(m.path); err == nil {
		x.Written = info.ModTime().UTC()
	}
	lost := false
	for i, have := range numbersOf(n) {
		lacks := max(0, int64(binary.LittleEndian.Uint64(b[8+8*i:]))-have)
		lost = lost || lacks > 0
		if i == 0 {
			x.Items = lacks
		}
		if i != 0 {
			x.Changes = max(x.Changes, lacks)
		}
	}
	if !lost {
		return
	}
	told, _ := m.told()
	same := func(old loss) bool { return old.Mark == x.Mark && old.Written.Equal(x.Written) }
	if !slices.ContainsFunc(told, same) { // else the mark could not be set when that was recorded
		m.untold = &x
	}
	m.write(n)
}

func (m *highMark) lostPath() string { return m.path[:len(m.path)-len(markSuffix)] + lostSuffix }

// tell records what the store lacks if that is not recorded. The caller holds mu.
func (m *highMark) tell() error {
	if m.untold == nil {
		return nil
	}
	line, err := json.Marshal(m.untold)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(m.lostPath(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(append([]byte{'\n'}, line...), '\n')) // a crash may have cut off the line before
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		m.untold = nil
	}
	return err
}

// told reads the records. torn is the number of lines that cannot be read.
func (m *highMark) told() (out []loss, torn int) {
	b, err := os.ReadFile(m.lostPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 1
	}
	for line := range bytes.Lines(b) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var x loss
		if json.Unmarshal(line, &x) != nil {
			torn++
			continue
		}
		out = append(out, x)
	}
	return out, torn
}

// lost describes what the store lacks.
func (m *highMark) lost() (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	told, torn := m.told()
	for i := range told {
		out = append(out, told[i].String())
	}
	if m.untold != nil {
		out = append(out, m.untold.String())
	}
	if torn > 0 {
		out = append(out, fmt.Sprintf("store.db%s has %d records of what the store lacked that cannot be read", lostSuffix, torn))
	}
	return out
}

// Lost implements [backend.LossTeller].
func (s *store) Lost() []string { return s.high.lost() }

var _ backend.LossTeller = (*store)(nil)
