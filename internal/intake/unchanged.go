package intake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
)

// fingerprintBytes is the length of a fingerprint: 128 bits of SHA-256.
const fingerprintBytes = 16

// sign sets the fingerprint of a file in its record: a hash of its content and of all fields that the call sets for it.
func sign(inc *backend.Incoming, doc *item.Doc, data []byte) error {
	h := sha256.New()
	for _, b := range [][]byte{inc.Doc, inc.Metadata, inc.Additional, []byte(inc.Title), []byte(inc.Kind), []byte(inc.Filename), []byte(inc.MediaType),
		binary.BigEndian.AppendUint64(nil, uint64(inc.Time.UnixNano())), data} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
	}
	doc.Fingerprint = h.Sum(nil)[:fingerprintBytes]
	var err error
	inc.Doc, err = doc.Encode()
	return err
}

// skipUnchanged removes files from the batch that equal the stored ones. It keeps files whose stored version failed, and
// items with a supplied graph.
func (in *batch) skipUnchanged(ctx context.Context) error {
	ids := make([]string, len(in.items))
	for i := range in.items {
		ids[i] = in.items[i].ID
	}
	srcs, err := in.ref.Store.Sources(ctx, in.part, ids)
	if err != nil {
		return fault.Wrap(in.op, fault.Source, "", err)
	}
	left := 0
	changed := map[string]bool{} // ids that an earlier item of the call changes
	for i, src := range srcs {
		same, err := in.same(&in.items[i], src)
		if err != nil {
			return fault.Wrap(in.op, fault.Source, ids[i], err)
		}
		if same && !changed[ids[i]] {
			in.result[i].Skipped = SkipUnchanged
			in.beside = append(in.beside, besideItem{in.places[i], in.result[i]})
			continue
		}
		changed[ids[i]] = true
		in.items[left], in.result[left], in.links[left], in.places[left] = in.items[i], in.result[i], in.links[i], in.places[i]
		left++
	}
	clear(in.items[left:])
	in.items, in.result, in.links, in.places = in.items[:left], in.result[:left], in.links[:left], in.places[:left]
	return nil
}

// same reports whether src is a stored file that equals inc. src may be nil.
func (in *batch) same(inc *backend.Incoming, src *backend.Source) (bool, error) {
	if src == nil || src.State == backend.Errored || item.Expired(src, in.now) ||
		slices.ContainsFunc(inc.Blobs, func(b backend.Blob) bool { return b.Kind == backend.Supplied }) {
		return false, nil
	}
	handed, err := item.Decode(inc.Doc)
	if err != nil || handed.Fingerprint == nil {
		return false, err
	}
	stored, err := item.Decode(src.Doc)
	if err != nil {
		return false, err
	}
	return bytes.Equal(handed.Fingerprint, stored.Fingerprint), nil
}
