package sqlite

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// Content of more than pieceBytes is stored in rows of the table pieces. All pieces but the last have pieceBytes. The
// content's row in blobs then has the negative number of pieces as its checksum, and the size in bytes as its data.
const (
	pieceBytes = 1 << 20
	pieceBits  = 14 // low bits of a piece's number that are its index
	maxPieces  = 1<<pieceBits - 1
)

// maxKind is the largest ContentKind that fits into blobID.
const maxKind = 7

func blobID(source int64, kind backend.ContentKind) int64 { return source<<3 | int64(kind) }

// pieceID returns the number of the first piece of a blob.
func pieceID(blob int64) int64 { return blob << pieceBits }

// storeBlobs stores content of a version. If anew is set, the version may already have content of these kinds.
func (t *tx) storeBlobs(source int64, blobs []backend.Blob, anew bool) error {
	for _, b := range blobs {
		data, id := b.Data, blobID(source, b.Kind)
		if data == nil {
			data = []byte{}
		}
		if anew {
			if err := t.c.do("DELETE FROM pieces WHERE id BETWEEN ? AND ?", pieceID(id), pieceID(id)|maxPieces); err != nil {
				return err
			}
			if b.Kind == backend.Original {
				if err := t.c.do("UPDATE sources SET original = 0 WHERE num = ?", source); err != nil {
					return err
				}
			}
		}
		sum := int64(storerules.Checksum(data))
		if len(data) > pieceBytes {
			var err error
			if sum, data, err = t.storePieces(id, data); err != nil {
				return err
			}
		}
		if err := t.c.do("INSERT OR REPLACE INTO blobs (id, crc, data) VALUES (?, ?, ?)", id, sum, data); err != nil {
			return err
		}
	}
	return nil
}

// storePieces stores a blob in pieces, and returns the values of its row in blobs.
func (t *tx) storePieces(id int64, data []byte) (sum int64, head []byte, err error) {
	n := int64(0)
	for rest := data; len(rest) > 0; n++ {
		if n > maxPieces {
			return 0, nil, fmt.Errorf("content of %d bytes is too large", len(data))
		}
		piece := rest[:min(len(rest), pieceBytes)]
		if err := t.c.do("INSERT INTO pieces (id, crc, data) VALUES (?, ?, ?)", pieceID(id)|n, storerules.Checksum(piece), piece); err != nil {
			return 0, nil, err
		}
		rest = rest[len(piece):]
	}
	return -n, binary.LittleEndian.AppendUint64(nil, uint64(len(data))), nil
}

// removeBlobs removes the content of a version.
func (t *tx) removeBlobs(source int64) error {
	first, last := blobID(source, 0), blobID(source, maxKind)
	if err := t.c.do("DELETE FROM pieces WHERE id BETWEEN ? AND ?", pieceID(first), pieceID(last)|maxPieces); err != nil {
		return err
	}
	return t.c.do("DELETE FROM blobs WHERE id BETWEEN ? AND ?", first, last)
}

// storedBlob is a row of blobs.
type storedBlob struct {
	id   int64
	n    int64 // number of pieces; 0: data is the content
	data []byte
}

// readStored reads a row of id, crc and data.
func readStored(r *row, what string, num int64) storedBlob {
	b := storedBlob{id: r.int(0)}
	if sum := r.int(1); sum >= 0 || r.err != nil {
		b.data = r.checked(1, 2, what, num)
		return b
	}
	b.n, b.data = -r.int(1), r.blob(2)
	if r.err == nil && (len(b.data) != 8 || b.n > maxPieces+1 || binary.LittleEndian.Uint64(b.data) > uint64(b.n)*pieceBytes) {
		r.err = fmt.Errorf("%s %d: %d pieces and %d bytes of their size: %w", what, num, b.n, len(b.data), backend.ErrCorrupt)
	}
	return b
}

// content returns the content of a row. It must run in the transaction in which the row was read.
func (b *storedBlob) content(ctx context.Context, c *conn, source int64) ([]byte, error) {
	if b.n == 0 {
		return b.data, nil
	}
	size := int(binary.LittleEndian.Uint64(b.data))
	data := make([]byte, 0, size)
	next := pieceID(b.id)
	err := c.each(ctx, "SELECT id, crc, data FROM pieces WHERE id BETWEEN ? AND ? ORDER BY id", func(r *row) error {
		piece := r.checked(1, 2, "content of source", source)
		if r.err != nil {
			return r.err
		}
		if r.int(0) == next && len(data)+len(piece) <= size {
			data = append(data, piece...)
			next++
		}
		return nil
	}, next, next|maxPieces)
	if err == nil && len(data) != size {
		err = fmt.Errorf("content of source %d: %d bytes in pieces, %d stored: %w", source, len(data), size, backend.ErrCorrupt)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// readBlobs reads all blobs of a version by kind, in a transaction.
func readBlobs(ctx context.Context, c *conn, source int64) (blobs []backend.Blob, err error) {
	var stored []storedBlob
	err = c.each(ctx, "SELECT id, crc, data FROM blobs WHERE id BETWEEN ? AND ? ORDER BY id", func(r *row) error {
		stored = append(stored, readStored(r, "content of source", source))
		return nil
	}, blobID(source, 0), blobID(source, maxKind))
	if err == nil && (len(stored) == 0 || stored[0].id != blobID(source, backend.Original)) {
		data, found, oerr := sharedOriginal(ctx, c, source)
		if err = oerr; found {
			blobs = append(blobs, backend.Blob{Kind: backend.Original, Data: data})
		}
	}
	for i := range stored {
		if err != nil {
			break
		}
		b := backend.Blob{Kind: backend.ContentKind(stored[i].id & maxKind)}
		b.Data, err = stored[i].content(ctx, c, source)
		blobs = append(blobs, b)
	}
	if err != nil {
		return nil, err
	}
	return blobs, nil
}
