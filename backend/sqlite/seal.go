package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// summed collects the fields of a row for its checksum.
type summed []byte

func (b summed) text(fields ...string) summed {
	for _, f := range fields {
		b = append(binary.AppendUvarint(b, uint64(len(f))), f...)
	}
	return b
}

func (b summed) bytes(fields ...[]byte) summed {
	for _, f := range fields {
		b = append(binary.AppendUvarint(b, uint64(len(f))), f...)
	}
	return b
}

func (b summed) ints(fields ...int64) summed {
	for _, f := range fields {
		b = binary.LittleEndian.AppendUint64(b, uint64(f))
	}
	return b
}

// microsOf returns a stored time in microseconds for comparisons.
func microsOf(stored any) int64 {
	if v, ok := stored.(int64); ok {
		return v
	}
	return storerules.Never
}

// sourceSum returns the checksum of the fields that a caller has given for a version, without its state. created is the stored form of the time.
func sourceSum(buf []byte, s *backend.Source, created any, tags []byte) (sum uint32, used []byte) {
	infer := int64(0)
	if s.Infer {
		infer = 1
	}
	b := summed(buf[:0]).text(s.ID, s.Title, s.Kind, s.Filename, s.MediaType, s.Session).bytes(tags, s.Metadata, s.Additional, s.Doc).
		ints(microsOf(created), storerules.Micros(s.UpdatedAt), storerules.Micros(s.Time), storerules.Micros(s.ExpiresAt), s.SizeBytes, infer)
	return storerules.Checksum(b), b
}

// relationSum returns the checksum of a relation without the columns that change later, KnownTo and SupersededBy.
func relationSum(buf []byte, r *backend.Relation, source, chunk int64) (sum uint32, used []byte) {
	flags := int64(0)
	if r.Functional {
		flags |= storerules.Functional
	}
	if r.Retracts {
		flags |= storerules.Retracts
	}
	b := summed(buf[:0]).text(r.Predicate, r.FromKey, r.ToKey, r.Raw, r.Context, r.Temporal, r.Origin, r.Kind, r.Object, r.Precision).
		ints(source, chunk, flags, storerules.Micros(r.ValidFrom), storerules.Micros(r.ValidTo), storerules.Micros(r.KnownFrom), int64(math.Float64bits(confidence(r.Confidence))))
	return storerules.Checksum(b), b
}

// entitySum returns the checksum of an entity's key, name and type.
func entitySum(key, name, typ string) uint32 {
	return storerules.Checksum(summed(nil).text(key, name, typ))
}

// sealed compares the checksum of a row with the one in column i. Rows of earlier releases may lack a checksum.
func (r *row) sealed(i int, sum uint32, what string, num int64) {
	if r.err == nil && !r.null(i) && r.int(i) != int64(sum) {
		r.err = fmt.Errorf("%s %d: checksum %08x, stored %08x: %w", what, num, sum, r.vals[i], backend.ErrCorrupt)
	}
}

// losses collects damaged rows that a read leaves out.
type losses struct{ storerules.Losses }

// skip reports whether the row that was just read is damaged. If so, it adds the error.
func (l *losses) skip(r *row) bool {
	if !l.Skips(r.err) {
		return false
	}
	r.err = nil
	return true
}

// unless returns err, or nil if err means that a row is damaged; it then adds err.
func (l *losses) unless(err error) error {
	if l.Skips(err) {
		return nil
	}
	return err
}

// partial reports whether an error only means that rows were left out.
func partial(err error) bool {
	if err == nil {
		return true
	}
	var d *backend.DamageError // escapes
	return errors.As(err, &d)
}

// reseal changes fields of a version that its checksum covers, and updates the checksum. If the version is damaged, it changes nothing and returns
// [backend.ErrCorrupt].
func (t *tx) reseal(num int64, change func() error) error {
	if _, err := byNum(t.c, num); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	return t.seal(num)
}

// seal updates the checksum of a version.
func (t *tx) seal(num int64) error {
	var sum uint32
	found, err := t.c.one(bg, "SELECT "+sourceCols+" FROM "+sourceTables+" WHERE s.num = ?", func(r *row) error {
		r.vals[sourceCrc] = nil
		s := readSource(r, 0)
		sum, _ = sourceSum(nil, s, r.vals[sourceCreated], storerules.PackTags(s.Tags))
		return nil
	}, num)
	if err != nil || !found {
		return err
	}
	return t.c.do("UPDATE sources SET crc = ? WHERE num = ?", sum, num)
}

// sealBatch is the number of rows of a kind that get a checksum in one transaction.
const sealBatch = 256

// sealOld adds checksums to a batch of rows of earlier releases, and reports whether there are more.
func (s *store) sealOld(ctx context.Context) (more bool, err error) {
	const unsealed = `SELECT 1 WHERE EXISTS (SELECT 1 FROM sources INDEXED BY sources_unsealed WHERE crc IS NULL)
		OR EXISTS (SELECT 1 FROM relations INDEXED BY relations_unsealed WHERE crc IS NULL)
		OR EXISTS (SELECT 1 FROM entities INDEXED BY entities_unsealed WHERE crc IS NULL)`
	err = s.query(ctx, func(c *conn) error {
		more, err = c.one(ctx, unsealed, func(*row) error { return nil })
		return err
	})
	if err != nil || !more {
		return false, err
	}
	err = s.change(ctx, func(t *tx) error {
		nums := func(sql string) (out []int64, err error) {
			err = t.c.each(bg, sql, func(r *row) error {
				out = append(out, r.int(0))
				return nil
			}, sealBatch)
			return out, err
		}
		sources, err := nums("SELECT num FROM sources INDEXED BY sources_unsealed WHERE crc IS NULL LIMIT ?")
		if err != nil {
			return err
		}
		for _, num := range sources {
			if err := t.seal(num); err != nil {
				return err
			}
		}
		relations, err := nums("SELECT num FROM relations INDEXED BY relations_unsealed WHERE crc IS NULL LIMIT ?")
		if err != nil {
			return err
		}
		for _, num := range relations {
			if err := t.sealRelation(num); err != nil {
				return err
			}
		}
		entities, err := nums("SELECT num FROM entities INDEXED BY entities_unsealed WHERE crc IS NULL LIMIT ?")
		if err != nil {
			return err
		}
		for _, num := range entities {
			var e *backend.Entity
			if e, err = entityByNum(t.c, num); err == nil && e != nil {
				err = t.c.do("UPDATE entities SET crc = ? WHERE num = ?", entitySum(e.Key, e.Name, e.Type), num)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return more, err
}

func (t *tx) sealRelation(num int64) error {
	var sum uint32
	_, err := t.c.one(bg, "SELECT "+relationCols+" FROM relations r WHERE r.num = ?", func(r *row) error {
		r.vals[relationCrc] = nil
		rel := readRelation(r)
		sum, _ = relationSum(nil, &rel, rel.Source, rel.Chunk)
		return nil
	}, num)
	if err != nil {
		return err
	}
	return t.c.do("UPDATE relations SET crc = ? WHERE num = ?", sum, num)
}
