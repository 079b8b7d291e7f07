package sqlite

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
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

// highMark is the file of a store's mark. The writer uses it.
type highMark struct {
	path string
	f    *os.File // nil until the first commit
	off  bool     // it could not be written before
}

const (
	markMagic = "ctxmark1"
	markBytes = 8 + 6*8 + 4
)

// numbersOf returns those numbers of a store that rise with its changes and never fall.
func numbersOf(n *storerules.Numbers) [6]int64 {
	return [6]int64{n.Source, n.Seq, n.Event, n.Entity, n.Relation, n.Merge}
}

// write writes the numbers of a durable commit. It ignores errors, after which the mark is only older.
func (m *highMark) write(n *storerules.Numbers) {
	if m.off {
		return
	}
	if m.f == nil {
		f, err := os.OpenFile(m.path, os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			m.off = true
			return
		}
		m.f = f
	}
	b := append(make([]byte, 0, markBytes), markMagic...)
	for _, x := range numbersOf(n) {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	_, err := m.f.WriteAt(binary.LittleEndian.AppendUint32(b, storerules.Checksum(b)), 0)
	m.off = err != nil
}

func (m *highMark) close() error {
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
}

// check compares the numbers of a database that was just opened with its mark. If the database lacks changes, it records that beside the
// database and sets the mark to what there is.
func (m *highMark) check(n *storerules.Numbers) error {
	b, err := os.ReadFile(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(b) < markBytes || string(b[:8]) != markMagic || storerules.Checksum(b[:markBytes-4]) != binary.LittleEndian.Uint32(b[markBytes-4:]) {
		return nil // a loss of power has cut it off
	}
	var x loss
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
		return nil
	}
	x.At = time.Now().UTC().Truncate(time.Second)
	if err := m.record(&x); err != nil {
		return err
	}
	m.write(n)
	return nil
}

func (m *highMark) lostPath() string { return m.path[:len(m.path)-len(markSuffix)] + lostSuffix }

func (m *highMark) record(x *loss) error {
	line, err := json.Marshal(x)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(m.lostPath(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// Lost implements [backend.LossTeller].
func (s *store) Lost() (out []string) {
	f, err := os.Open(s.high.lostPath())
	if err != nil {
		return nil
	}
	defer f.Close()
	d := json.NewDecoder(f)
	for {
		var x loss
		if err := d.Decode(&x); err != nil {
			return out
		}
		out = append(out, fmt.Sprintf("when it was opened at %s, the store lacked %d versions of items and %d other changes that it had acknowledged: its write-ahead log was cut or damaged, or an older copy was put in its place; "+
			"restore a backup, or ingest again what was added before that time, and then remove store.db%s", x.At.Format(time.RFC3339), x.Items, x.Changes, lostSuffix))
	}
}

var _ backend.LossTeller = (*store)(nil)
