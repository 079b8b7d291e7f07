package sqlite

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// The original of a version with one chunk often equals the text of the chunk. When such a chunk is stored, [tx.shareOriginal] removes the original's row of blobs
// and marks the version in sources. Before the chunk may be replaced, [tx.ownOriginal] restores the row.

// shareOriginal removes the original of a version if it is the text of the only chunk, and reports whether it is.
func (t *tx) shareOriginal(num int64, text []byte) (bool, error) {
	if len(text) == 0 {
		return false, nil
	}
	n, err := t.c.exec("DELETE FROM blobs WHERE id = ? AND crc = ? AND data = ?", blobID(num, backend.Original), storerules.Checksum(text), text)
	return n > 0, err
}

// ownOriginal stores the original of a version as a row of blobs again, if it is only in its chunk.
func (t *tx) ownOriginal(num int64) error {
	data, found, err := sharedOriginal(bg, t.c, num)
	if err != nil || !found {
		return err
	}
	if err := t.c.do("UPDATE sources SET original = 0 WHERE num = ?", num); err != nil {
		return err
	}
	return t.storeBlobs(num, []backend.Blob{{Kind: backend.Original, Data: data}}, false)
}

// sharedOriginal reads the original of a version from its chunk.
func sharedOriginal(ctx context.Context, c *conn, num int64) (data []byte, found bool, err error) {
	found, err = c.one(ctx, "SELECT "+chunkCols+" FROM sources s CROSS JOIN chunks c ON c.num = s.first_chunk WHERE s.num = ? AND s.original = 1", func(r *row) error {
		var ch backend.Chunk
		readChunk(r, 0, &ch)
		data = []byte(ch.Text)
		return nil
	}, num)
	return data, found && err == nil, err
}
