package sqlite

import "github.com/contextmem/contextmem/backend"

// maxKeptTexts bounds the bytes of chunkTexts.
const maxKeptTexts = 4 << 20

// chunkTexts are texts of chunks that were just stored, by version: relations are about to be stored with places in them. They share memory
// with what the caller has until then.
type chunkTexts struct {
	by   map[int64]keptTexts
	size int
}

type keptTexts struct {
	first  int64 // the number of the first chunk
	size   int
	chunks []string
}

// keep remembers the texts of a version's chunks, the first of which has the number first, if there is room.
func (k *chunkTexts) keep(source, first int64, chunks []backend.Chunk) {
	k.drop(source)
	size := 0
	for i := range chunks {
		size += len(chunks[i].Text)
	}
	if k.size+size > maxKeptTexts {
		return
	}
	texts := make([]string, len(chunks))
	for i := range chunks {
		texts[i] = chunks[i].Text
	}
	if k.by == nil {
		k.by = make(map[int64]keptTexts)
	}
	k.by[source] = keptTexts{first, size, texts}
	k.size += size
}

// of returns the text of a chunk; false: it is not remembered.
func (k *chunkTexts) of(source, chunk int64) (string, bool) {
	kept := k.by[source]
	if i := chunk - kept.first; i >= 0 && i < int64(len(kept.chunks)) {
		return kept.chunks[i], true
	}
	return "", false
}

// drop forgets the texts of a version.
func (k *chunkTexts) drop(source int64) {
	k.size -= k.by[source].size
	delete(k.by, source)
}

func (k *chunkTexts) forget() { *k = chunkTexts{} }
