package transformer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The layout of packed weights, which is the same for all kernels. A panel holds panelCols output channels. Within a panel, each step
// of packDepth inputs holds packDepth bytes per channel, channel after channel. So a 512-bit multiply reads 64 consecutive bytes, a
// 256-bit one 32 and a 128-bit one 16. Channels are padded to groupCols with zeros, so that kernels process whole groups of panels.
const (
	panelCols = 16
	packDepth = 4
	groupCols = 64
)

// roundUp returns n rounded up to a multiple of m.
func roundUp(n, m int) int { return (n + m - 1) / m * m }

// linear is a fully connected layer y = Wx + b with int8 weights, one scale per output
// channel.
type linear struct {
	in, out int
	steps   int // of packDepth inputs
	width   int // out rounded up to groupCols; the stride of results

	// groups are the weights, int8, of groupCols channels each: [groupCols/panelCols][steps][panelCols][packDepth]. They are memory of
	// the layer, or read-only parts of the file.
	groups [][]byte

	// Per group of columns: groupCols scales, then groupCols times scale*sum(weights),
	// then groupCols biases.
	cols []float32
}

// newLinear makes a layer with zeroed memory for its weights.
func newLinear(out, in int) *linear {
	l := emptyLinear(out, in)
	l.addGroups(make([]byte, l.width*l.steps*packDepth))
	return l
}

// emptyLinear makes a layer without weights.
func emptyLinear(out, in int) *linear {
	l := &linear{in: in, out: out, steps: roundUp(in, packDepth) / packDepth, width: roundUp(out, groupCols)}
	l.cols = make([]float32, 3*l.width)
	return l
}

// addGroups adds the consecutive groups in w.
func (l *linear) addGroups(w []byte) {
	for size := l.groupBytes(); len(w) >= size; w = w[size:] {
		l.groups = append(l.groups, w[:size:size])
	}
}

// groupBytes is the size of a group.
func (l *linear) groupBytes() int { return groupCols * l.steps * packDepth }

// set stores the weights (int8) and the scale of output channel o.
func (l *linear) set(o int, q []byte, scale float32) {
	panel := l.groups[o/groupCols][o%groupCols/panelCols*l.steps*panelCols*packDepth:][:l.steps*panelCols*packDepth]
	at, sum := o%panelCols*packDepth, sumInt8(q)
	for ; len(q) >= packDepth; q = q[packDepth:] {
		binary.LittleEndian.PutUint32(panel[at:], binary.LittleEndian.Uint32(q))
		at += panelCols * packDepth
	}
	for i, v := range q {
		panel[at+i] = v
	}
	c := l.column(o)
	c[0], c[groupCols] = scale, scale*float32(sum)
}

// sumInt8 returns the sum of the int8 values of q. It adds unsigned bytes, offset by 128, in four 16-bit lanes.
func sumInt8(q []byte) (sum int32) {
	const signs, even = 0x8080808080808080, 0x00FF00FF00FF00FF
	n := int32(len(q))
	for len(q) >= 8 {
		// A lane can hold 128 sums of two bytes.
		var lanes uint64
		for i := 0; i < 128 && len(q) >= 8; i++ {
			v := binary.LittleEndian.Uint64(q) ^ signs
			lanes += v&even + v>>8&even
			q = q[8:]
		}
		sum += int32(lanes&0xFFFF + lanes>>16&0xFFFF + lanes>>32&0xFFFF + lanes>>48)
	}
	for _, v := range q {
		sum += int32(v ^ 0x80)
	}
	return sum - 128*n
}

// column returns the parameters of output channel o: scale at 0, scale*sum at
// groupCols, bias at 2*groupCols.
func (l *linear) column(o int) []float32 {
	at := o/groupCols*3*groupCols + o%groupCols
	return l.cols[at : at+2*groupCols+1]
}

// weights describes a matrix [out, in] whose rows can be read as int8 with a scale each.
type weights struct {
	out, in int
	q       tensor // the matrix: floats, I8, I8 in panels, or U8 with two 4-bit values per byte
	scale   tensor // of I8 and U8
	sum     tensor // of I8 in panels, if its file has them: the sum of each row's values
	groups  int    // scales per row
}

// findWeights looks up the matrix called name in ts, in any of its forms: NAME.weight as floats, NAME.weight as I8 with
// NAME.weight_scale, the same in panels (see Panels), or NAME.weight_q4.
func findWeights(ts map[string]tensor, name string, out, in int) (weights, error) {
	w := weights{out: out, in: in}
	q4, packed := ts[name+".weight_q4"]
	if !packed {
		t, ok := ts[name+".weight"]
		if !ok {
			return w, fmt.Errorf("safetensors: no tensor %s.weight", name)
		}
		w.q = t
		if w.inPanels() {
			if sum := ts[name+".weight_sum"]; sum.dtype == "F32" && sum.is(out) {
				w.sum = sum
			}
			return w, w.findScale(ts, name)
		}
		if !t.is(out, in) || t.dtype == "U8" {
			return w, fmt.Errorf("safetensors: %s.weight must be floats or I8 [%d, %d]", name, out, in)
		}
		if t.floats() {
			return w, nil
		}
	} else {
		w.q = q4
		if q4.dtype != "U8" || in%2 != 0 || !q4.is(out, in/2) {
			return w, fmt.Errorf("safetensors: %s.weight_q4 must be U8 [%d, %d]", name, out, in/2)
		}
	}
	return w, w.findScale(ts, name)
}

// findScale looks up the scales: one per row or, for 4-bit values, one per group.
func (w *weights) findScale(ts map[string]tensor, name string) error {
	s, ok := ts[name+".weight_scale"]
	if !ok || !s.floats() {
		return fmt.Errorf("safetensors: %s.weight_scale must be floats", name)
	}
	w.scale, w.groups = s, 1
	if len(s.shape) == 2 {
		w.groups = s.shape[1]
	}
	grouped := w.groups == 1 || w.q.dtype == "U8"
	if !grouped || w.groups < 1 || w.in%w.groups != 0 || w.groups > 1 && w.in/w.groups%2 != 0 ||
		!s.is(w.out) && !s.is(w.out, w.groups) {
		return fmt.Errorf("safetensors: %s.weight_scale must be [%d] or, for 4-bit weights, [%d, groups of even size]",
			name, w.out, w.out)
	}
	return nil
}

// packer converts rows of weights to int8. It holds the memory for one row.
type packer struct {
	row    []float32
	scales []float32
	q      []byte // int8
	k      *kernels
}

func newPacker(k *kernels) *packer {
	return &packer{make([]float32, maxWidth), make([]float32, maxWidth), make([]byte, maxWidth), k}
}

var errNotFinite = errors.New("safetensors: a weight or a scale is not finite")

// pack does one packing.
func (p *packer) pack(j packing) error {
	if j.from.inPanels() {
		return j.panels(p.k)
	}
	for o := range j.from.out {
		q, scale, ok := p.quantised(j.from, o)
		if !ok {
			return errNotFinite
		}
		j.l.set(j.first+o, q, scale*j.factor)
	}
	return nil
}

// quantised returns row o of w as int8 with its scale, and whether all values were finite. The row is valid until the next call.
func (p *packer) quantised(w weights, o int) (q []byte, scale float32, ok bool) {
	if w.q.floats() {
		q, row := p.q[:w.in], p.row[:w.in]
		decode(row, w.q.data[o*w.in*dtypeSize[w.q.dtype]:], w.q.dtype)
		scale, ok = quantise(q, row)
		return q, scale, ok
	}
	s := p.scales[:w.groups]
	w.readScales(s, o)
	if !finite(s) {
		return nil, 0, false
	}
	if w.q.dtype == "I8" {
		return w.q.data[o*w.in:][:w.in], s[0], true
	}
	q = p.q[:w.in]
	return q, expand4(q, w.q.data[o*w.in/2:][:w.in/2], s), true
}

// readScales reads the scales of row o.
func (w *weights) readScales(dst []float32, o int) {
	decode(dst, w.scale.data[o*w.groups*dtypeSize[w.scale.dtype]:], w.scale.dtype)
}

// tiny is the limit up to which a row's largest value counts as 0.
const tiny = 1e-30

// quantise sets q to the int8 values of row divided by the returned scale, which maps the largest value to 127. It reports whether all
// values are finite.
func quantise(q []byte, row []float32) (scale float32, ok bool) {
	top := uint32(0)
	for _, x := range row {
		top = max(top, math.Float32bits(x)&^(1<<31))
	}
	largest := math.Float32frombits(top)
	switch {
	case top >= 0x7F800000:
		return 0, false
	case largest < tiny:
		clear(q)
		return 0, true
	}
	inv := 127 / largest
	q = q[:len(row)]
	for i, x := range row {
		q[i] = byte(nearest(x * inv))
	}
	return largest / 127, true
}

// roundShift is 1.5*2^23: added to a float32 in +-2^22, it leaves the nearest integer (ties to
// even) in the low bits.
const roundShift = 12582912

// nearest returns the integer nearest to x in +-2^22, ties to even.
func nearest(x float32) int32 {
	return int32(math.Float32bits(x+roundShift)) - 0x4B400000
}
