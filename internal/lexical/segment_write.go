package lexical

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"runtime"
	"slices"
)

// ErrTooLarge is returned for a segment that is too large for 32-bit offsets.
var ErrTooLarge = errors.New("lexical: segment is too large")

// yieldEvery is the number of terms or documents after which WriteSegment yields the processor to searches.
const yieldEvery = 32

// WriteSegment writes the live rows of the parts as one segment. It reads their postings and
// needs no texts. The segment holds the rows that were live at the start; the parts may change
// meanwhile, and the caller repeats later deletions on the segment. If two parts have a
// row in common, WriteSegment returns ErrOrder. It needs memory for the terms, the
// lengths, and the postings of one term.
func WriteSegment(ctx context.Context, w io.Writer, parts ...Part) error {
	sw := &segmentWriter{ctx: ctx, out: bufio.NewWriterSize(w, 1<<16)}
	for _, p := range parts {
		sw.sources = append(sw.sources, p.snapshot())
	}
	for _, step := range []func() error{sw.number, sw.writeTerms, sw.writeDocs, sw.writeForward} {
		if err := step(); err != nil {
			return err
		}
	}
	if _, err := sw.out.Write(sw.footer.encode()); err != nil {
		return err
	}
	return sw.out.Flush()
}

// tooLong reports whether 32 bits cannot count n bytes.
func tooLong(n int) bool { return uint64(n) > math.MaxUint32 }

type segmentWriter struct {
	ctx     context.Context
	out     *bufio.Writer
	offset  uint64
	footer  footer
	sources []snapshot
	docs    []mergedDoc
	moved   [][]uint32 // per source: old document number -> new one, or noDoc if it is deleted
	renamed [][]uint32 // per source: old term number -> new one
	norms   scorer     // norms with which impacts are computed
	lens    []uint32
	term    termWriter
}

type mergedDoc struct {
	row, source, doc uint32
}

// number numbers the documents of all sources in order of their rows.
func (w *segmentWriter) number() error {
	for i, src := range w.sources {
		moved := make([]uint32, src.docCount())
		for doc := range moved {
			moved[doc] = noDoc
			if src.dead != nil && src.dead.Has(uint32(doc)) {
				continue
			}
			row, _ := src.doc(uint32(doc))
			w.docs = append(w.docs, mergedDoc{row, uint32(i), uint32(doc)})
		}
		w.moved = append(w.moved, moved)
	}
	slices.SortFunc(w.docs, func(x, y mergedDoc) int { return cmp.Compare(x.row, y.row) })
	w.lens = make([]uint32, len(w.docs))
	for i, d := range w.docs {
		if i > 0 && w.docs[i-1].row == d.row || d.row == noDoc {
			return fmt.Errorf("%w: row %d", ErrOrder, d.row)
		}
		w.moved[d.source][d.doc] = uint32(i)
		_, w.lens[i] = w.sources[d.source].doc(d.doc)
		w.footer.totalLen += int64(w.lens[i])
	}
	w.footer.docs = uint32(len(w.docs))
	if len(w.docs) > 0 {
		w.footer.firstRow = w.docs[0].row
	}
	st := Stats{Docs: len(w.docs), TotalLen: w.footer.totalLen}
	w.footer.average = st.Average()
	w.norms = scorer{norm0: bm25K1 * (1 - bm25B), norm1: float32(bm25K1 * bm25B / st.Average())}
	return nil
}

// writeTerms merges the postings of all sources, term by term.
func (w *segmentWriter) writeTerms() error {
	for _, src := range w.sources {
		w.renamed = append(w.renamed, make([]uint32, src.termCount()))
	}
	merge := newTermMerge(w.sources)
	var text, info []byte
	var hashes []uint64
	sec := w.begin(secPostings)
	for {
		if w.footer.terms%checkEvery == 0 && w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		if w.footer.terms%yieldEvery == 0 {
			runtime.Gosched()
		}
		w.term.reset()
		more, err := merge.next(func(source, term int) error {
			w.renamed[source][term] = w.footer.terms
			return w.collect(source, term)
		})
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if len(w.term.postings) == 0 {
			continue // only deleted documents had it
		}
		at := sec.length
		t := &w.term
		t.encode(w.lens, &w.norms)
		if tooLong(len(t.blocks)) || tooLong(len(t.posBytes)) || tooLong(len(text)+len(merge.current)) {
			return ErrTooLarge
		}
		if err := errors.Join(w.write(sec, t.skips), w.write(sec, t.blocks), w.write(sec, t.posBytes)); err != nil {
			return err
		}
		info = binary.LittleEndian.AppendUint64(info, at)
		info = binary.LittleEndian.AppendUint32(info, uint32(len(t.skips)+len(t.blocks)))
		info = binary.LittleEndian.AppendUint32(info, uint32(len(t.postings)))
		info = binary.LittleEndian.AppendUint32(info, uint32(len(text)))
		info = append(append(info, t.maxImpact, t.maxTF), t.seeds[:]...)
		text = append(text, merge.current...)
		hashes = append(hashes, termHash(string(merge.current)))
		w.footer.terms++
	}
	if err := w.write(sec, make([]byte, tailBytes)); err != nil {
		return err
	}
	return errors.Join(w.whole(secTerms, text), w.whole(secTermSlots, makeSlots(hashes)), w.whole(secTermInfo, info))
}

// collect adds the live postings of one term of one source.
func (w *segmentWriter) collect(source, term int) error {
	c, err := w.sources[source].cursorAt(term)
	if err != nil {
		return err
	}
	moved, t := w.moved[source], &w.term
	for doc := c.advance(0); doc != noDoc; doc = c.advance(doc + 1) {
		if moved[doc] == noDoc {
			continue
		}
		from := len(t.positions)
		t.positions = c.positions(t.positions)
		if c.err() != nil {
			break
		}
		t.postings = append(t.postings, posting{moved[doc], c.freq(), from, len(t.positions)})
	}
	return c.err()
}

// writeDocs writes the rows and lengths of the documents.
func (w *segmentWriter) writeDocs() error {
	le := binary.LittleEndian
	var rows, lengths, long []byte
	for i, n := range w.lens {
		if n >= longLength {
			long = le.AppendUint32(le.AppendUint32(long, uint32(i)), n)
		}
	}
	wide := len(long) > len(w.docs)
	for i, d := range w.docs {
		length := w.lens[i]
		rows = le.AppendUint32(rows, d.row)
		if wide {
			lengths = le.AppendUint32(lengths, length)
		} else {
			lengths = append(lengths, byte(min(length, longLength)))
		}
		if i%checkEvery == 0 && w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		if i%yieldEvery == 0 {
			runtime.Gosched()
		}
	}
	if wide {
		long = nil
	}
	if n := len(w.docs); n == 0 || w.docs[n-1].row-w.docs[0].row == uint32(n-1) {
		rows = nil // rows are consecutive
	}
	return errors.Join(w.whole(secRows, rows), w.whole(secLengths, lengths), w.whole(secLongLengths, long))
}

// maxForward bounds the encoded terms of documents that writeForward keeps in memory, in blocks of forwardBlock.
const maxForward, forwardBlock = 8 << 20, 64 << 10

// writeForward writes the terms of each document. Their offsets come first in the file. If the
// terms exceed maxForward, writeForward encodes them twice.
func (w *segmentWriter) writeForward() error {
	offsets := binary.LittleEndian.AppendUint32(nil, 0)
	size := 0
	var kept [][]byte // in blocks, so that growing copies nothing
	err := w.eachForward(func(entry []byte) error {
		if size += len(entry); tooLong(size) {
			return ErrTooLarge
		}
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(size))
		if size > maxForward {
			kept = nil
			return nil
		}
		if n := len(kept); n == 0 || cap(kept[n-1])-len(kept[n-1]) < len(entry) {
			kept = append(kept, make([]byte, 0, max(forwardBlock, len(entry))))
		}
		last := &kept[len(kept)-1]
		*last = append(*last, entry...)
		return nil
	})
	if err != nil {
		return err
	}
	if err := w.whole(secFwdOffsets, offsets); err != nil {
		return err
	}
	sec := w.begin(secForward)
	if size <= maxForward {
		for _, block := range kept {
			if err := w.write(sec, block); err != nil {
				return err
			}
		}
		return nil
	}
	return w.eachForward(func(entry []byte) error { return w.write(sec, entry) })
}

func (w *segmentWriter) eachForward(f func(entry []byte) error) error {
	var terms, room []uint64 // number in the upper half, frequency in the lower
	var entry []byte
	for i, d := range w.docs {
		if i%checkEvery == 0 && w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		if i%yieldEvery == 0 {
			runtime.Gosched()
		}
		terms = terms[:0]
		renamed := w.renamed[d.source]
		err := w.sources[d.source].eachTermOf(d.doc, func(term, tf uint32) {
			terms = append(terms, uint64(renamed[term])<<32|uint64(tf))
		})
		if err != nil {
			return err
		}
		room = sortTerms(terms, room, 32)
		entry = entry[:0]
		next := uint32(0)
		for _, t := range terms {
			if uint32(t>>32) < next {
				return fmt.Errorf("%w: forward index", ErrCorrupt)
			}
			entry = binary.AppendUvarint(entry, uint64(uint32(t>>32)-next))
			entry = binary.AppendUvarint(entry, uint64(uint32(t)))
			next = uint32(t>>32) + 1
		}
		if err := f(entry); err != nil {
			return err
		}
	}
	return nil
}

// begin starts a section at the next multiple of 8.
func (w *segmentWriter) begin(i int) *section {
	pad := -w.offset % 8
	_, _ = w.out.Write(make([]byte, pad)) // the writer repeats the error at the next write
	w.offset += pad
	sec := &w.footer.sections[i]
	sec.offset = w.offset
	return sec
}

func (w *segmentWriter) write(sec *section, data []byte) error {
	sec.crc = crc32.Update(sec.crc, castagnoli, data)
	sec.length += uint64(len(data))
	w.offset += uint64(len(data))
	_, err := w.out.Write(data)
	return err
}

func (w *segmentWriter) whole(i int, data []byte) error { return w.write(w.begin(i), data) }
