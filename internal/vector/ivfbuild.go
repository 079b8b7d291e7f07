package vector

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/contextmem/contextmem/internal/simd"
)

const (
	// bitsFromDim is the number of dimensions from which on a segment has 1-bit codes. Below
	// it an 8-bit row is hardly larger than a record.
	bitsFromDim = 65
	// leanFromDim is the number of dimensions from which on codes leave so few candidates that their
	// float32 rows can be read with system calls.
	leanFromDim = 200
	// listsFactor is the number of lists divided by the root of the number of rows.
	listsFactor = 2
	// buildSeed is the seed of all random choices; it makes equal input give equal bytes.
	buildSeed = 0x7365676d656e74
	// batchRows is the number of rows that workers process together, and that are read
	// between two calls of WriteOptions.Check.
	batchRows = 2048
	// calibrationQueries is the number of sample queries of the calibration, and
	// calibrationK the number of neighbours of each.
	calibrationQueries = 480
	calibrationK       = 10
)

// recallPoints are the recalls for which a segment stores its probing width.
var recallPoints = [...]float32{.80, .90, .95, .98, .99, .999}

// ivfBuilder builds the inverted file of a segment.
type ivfBuilder struct {
	source
	n       int
	kind    kind
	workers int

	book  *codebook
	mean  []float32 // of the sample
	owner []uint32  // list of each row
	// spreads has, for each list, the standard deviation of a residual in a random
	// direction: the root of the mean squared distance of the list's rows from the
	// centroid, divided by the root of the number of dimensions.
	spreads   []float32
	offsets   []uint32
	order     []uint32 // row at each position
	positions []uint32
	widths    [len(recallPoints)]float32
}

func newIVFBuilder(src source, n, workers int, from *Segment) (*ivfBuilder, error) {
	b := &ivfBuilder{source: src, n: n, kind: kindIVF8, workers: workers}
	if src.dim >= bitsFromDim {
		b.kind = kindIVF1
	}
	r := rand.New(rand.NewPCG(buildSeed, uint64(n)))
	lists := min(max(1, int(listsFactor*math.Sqrt(float64(n)))), n)
	smp, err := b.sample(min(n, lists*trainRows), r)
	if err != nil {
		return nil, err
	}
	if from.inverted(src.dim) && from.Len() >= n/adaptFrom {
		b.book, err = adapt(from.codebook(), smp, lists, b.workers, r, src.check)
	} else {
		b.book, err = train(smp, lists, b.workers, r, src.check)
	}
	if err != nil {
		return nil, err
	}
	g, err := newGroups(b.book, b.workers, r, src.check)
	if err != nil {
		return nil, err
	}
	b.book = g.book
	if err := b.assign(g, newCalibration(smp, b.mean, r)); err != nil {
		return nil, err
	}
	b.sort()
	return b, nil
}

// sample divides the rows into size runs of equal length and reads a random row of each. It also
// sets b.mean to their mean.
func (b *ivfBuilder) sample(size int, r *rand.Rand) (*sample, error) {
	s, v := newSample(b.dim, size), make([]float32, b.dim)
	sum := make([]float64, b.dim)
	for i := range size {
		from, to := i*b.n/size, (i+1)*b.n/size
		if err := b.read(from+r.IntN(to-from), v); err != nil {
			return nil, err
		}
		s.set(i, v)
		s.get(i, v)
		for j, x := range v {
			sum[j] += float64(x)
		}
	}
	b.mean = make([]float32, floatStride(b.dim))
	for j, x := range sum {
		b.mean[j] = float32(x / float64(size))
	}
	return s, nil
}

// assign finds the list of each row, computes the spreads of the lists, and passes every row
// to the calibration.
func (b *ivfBuilder) assign(g *groups, cal *calibration) error {
	lists := len(b.book.scales)
	b.owner = make([]uint32, b.n)
	squares, counts := make([]float64, lists), make([]int, lists)
	buf, dist := make([]float32, batchRows*b.dim), make([]float32, batchRows)
	row := func(i int) []float32 { return buf[i*b.dim : (i+1)*b.dim] }
	for at := 0; at < b.n; at += batchRows {
		m := min(batchRows, b.n-at)
		for i := range m {
			if err := b.read(at+i, row(i)); err != nil {
				return err
			}
		}
		owner := b.owner[at : at+m]
		parallel(m, b.workers, func(from, to int) {
			p := newProber(b.dim)
			for i := from; i < to; i++ {
				yield(i)
				list, score := g.nearest(p, row(i))
				var square float32
				for _, x := range row(i) {
					square += float32(x * x)
				}
				owner[i], dist[i] = uint32(list), max(0, square-2*score)
			}
		})
		for i, list := range owner {
			if d := float64(dist[i]); !math.IsInf(d, 0) && d == d {
				squares[list] += d
			}
			counts[list]++
		}
		cal.see(at, m, row, b.workers)
	}
	b.spreads = make([]float32, lists)
	for i := range b.spreads {
		b.spreads[i] = float32(math.Sqrt(squares[i] / float64(max(1, counts[i])*b.dim)))
	}
	b.widths = cal.widths(b)
	return nil
}

// sort sets the order of positions: by list, and by row within a list.
func (b *ivfBuilder) sort() {
	b.offsets = make([]uint32, len(b.spreads)+1)
	for _, list := range b.owner {
		b.offsets[list+1]++
	}
	for i := range b.spreads {
		b.offsets[i+1] += b.offsets[i]
	}
	next := slices.Clone(b.offsets)
	b.order, b.positions = make([]uint32, b.n), make([]uint32, b.n)
	for row, list := range b.owner {
		p := next[list]
		next[list]++
		b.order[p], b.positions[row] = uint32(row), p
	}
}

// write writes the sections after secFloats.
func (b *ivfBuilder) write(sw *sectionWriter) error {
	put := func(id int, data []byte) error {
		if err := sw.begin(id); err != nil {
			return err
		}
		return sw.write(data)
	}
	if err := put(secRows, bytesOf(b.order)); err != nil {
		return err
	}
	if err := put(secPositions, bytesOf(b.positions)); err != nil {
		return err
	}
	if err := sw.begin(secRecords); err != nil {
		return err
	}
	if b.kind == kindIVF1 {
		if err := b.writeRecords(sw); err != nil {
			return err
		}
	}
	for _, s := range []struct {
		id   int
		data []byte
	}{
		{secOffsets, bytesOf(b.offsets)},
		{secCentroids, b.book.codes},
		{secCentroidScales, bytesOf(b.book.scales)},
		{secSpreads, bytesOf(b.spreads)},
		{secMean, bytesOf(b.mean)},
	} {
		if err := put(s.id, s.data); err != nil {
			return err
		}
	}
	return nil
}

// A record is the 1-bit code of a row, then little-endian factor and offset
// (float32) and list (uint32), padded to half a cache line or whole ones.
//
// With r = R(row - centroid) the rotated residual and d = R(query - mean), the
// code is the signs of r, and the inner product of residual and query is about
//
//	offset + factor * sum over j of ±d[j]
//
// where factor = |r|²/(sum over j of |r[j]|), which makes the estimate unbiased
// (RaBitQ, Gao & Long 2024), and offset = <row - centroid, mean>. The mean is
// subtracted from the query because the error grows with |d|.
const recordMeta = 12

func codeBytes(dim int) int { return (dim + 63) / 64 * 8 }

func recordStride(dim int) int {
	if codeBytes(dim) == simd.HalfCode {
		return simd.HalfLine
	}
	return (codeBytes(dim) + recordMeta + simd.AlignU8 - 1) &^ (simd.AlignU8 - 1)
}

func (b *ivfBuilder) writeRecords(sw *sectionWriter) error {
	rot, stride := rotationOf(b.dim), recordStride(b.dim)
	buf, recs := make([]float32, batchRows*b.dim), make([]byte, batchRows*stride)
	for at := 0; at < b.n; at += batchRows {
		m := min(batchRows, b.n-at)
		for i := range m {
			if err := b.read(int(b.order[at+i]), buf[i*b.dim:(i+1)*b.dim]); err != nil {
				return err
			}
		}
		parallel(m, b.workers, func(from, to int) {
			residual := make([]float32, rot.dim)
			for i := from; i < to; i++ {
				yield(i)
				list := int(b.owner[b.order[at+i]])
				b.encode(recs[i*stride:(i+1)*stride], buf[i*b.dim:(i+1)*b.dim], list, rot, residual)
			}
		})
		if err := sw.write(recs[:m*stride]); err != nil {
			return err
		}
	}
	return nil
}

// encode writes the record of a row v of a list to rec. r is a buffer.
func (b *ivfBuilder) encode(rec []byte, v []float32, list int, rot *rotation, r []float32) {
	clear(r[b.dim:])
	b.book.get(list, r)
	var offset float32
	for j, x := range v {
		r[j] = x - r[j]
		offset += float32(r[j] * b.mean[j])
	}
	rot.apply(r)
	var square, abs float32
	for w := 0; w*64 < len(r); w++ {
		var bits uint64
		for j, x := range r[w*64 : w*64+64] {
			square += float32(x * x)
			if x > 0 {
				bits |= 1 << j
				abs += x
			} else {
				abs -= x
			}
		}
		binary.LittleEndian.PutUint64(rec[w*8:], bits)
	}
	var factor float32
	if abs > 0 {
		factor = square / abs
	}
	meta := rec[codeBytes(b.dim):]
	binary.LittleEndian.PutUint32(meta, math.Float32bits(factor))
	binary.LittleEndian.PutUint32(meta[4:], math.Float32bits(offset))
	binary.LittleEndian.PutUint32(meta[8:], uint32(list))
}
