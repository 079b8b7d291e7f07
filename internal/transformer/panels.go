package transformer

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
)

// inPanels reports whether the matrix is stored in the layout of the kernels: I8 [out/panelCols][in/packDepth][panelCols][packDepth].
func (w *weights) inPanels() bool {
	return w.q.dtype == "I8" && w.out%groupCols == 0 && w.in%packDepth == 0 && w.q.is(w.out/panelCols, w.in/packDepth, panelCols, packDepth)
}

// inPlace reports whether all of ws are in panels, so that a layer needs no memory for them.
func inPlace(ws []weights) bool {
	return !slices.ContainsFunc(ws, func(w weights) bool { return !w.inPanels() })
}

// panels sets the scales and sums of the channels of a matrix in panels, and copies the panels into a layer that has memory of its
// own.
func (j packing) panels(k *kernels) error {
	scales := make([]float32, j.from.out)
	decode(scales, j.from.scale.data, j.from.scale.dtype)
	sums := make([]float32, j.from.out)
	if j.from.sum.data != nil {
		decode(sums, j.from.sum.data, j.from.sum.dtype)
	} else {
		j.add(k, sums)
	}
	if !finite(scales) || !finite(sums) {
		return errNotFinite
	}
	for o, sum := range sums {
		scale, c := scales[o]*j.factor, j.l.column(j.first+o)
		c[0], c[groupCols] = scale, scale*sum
	}
	size := j.l.groupBytes()
	for at := 0; at < j.from.out; at += groupCols {
		data := j.from.q.data[at*j.from.in:][:size]
		if to := j.l.groups[(j.first+at)/groupCols]; &to[0] != &data[0] {
			copy(to, data)
		}
	}
	return nil
}

// add sets sums to the sums of the channels of a matrix in panels. It reads the whole matrix.
func (j packing) add(k *kernels, sums []float32) {
	// The product of the weights with a row of ones, in the kernels' format, is their sum. It is exact, as it is below 2^24.
	ones := bytes.Repeat([]byte{1, 0}[:k.valueSize], j.l.steps*packDepth)
	cols := make([]float32, 3*groupCols)
	for i := range groupCols {
		cols[i] = 1
	}
	size := j.l.groupBytes()
	for at := 0; at < j.from.out; at += groupCols {
		k.gemm(sums[at:at+groupCols], groupCols, ones, len(ones), []rowScale{{scale: 1}}, j.from.q.data[at*j.from.in:][:size], j.l.steps, cols)
	}
}

// panelAlign is the alignment of the data of a file made by Panels.
const panelAlign = 64

// Panels returns a safetensors file with the matrices of another file's layers in the layout of the kernels. Passed to Load as over,
// these matrices are read in place. It holds NAME.weight, I8 [out/16, in/4, 16, 4] (16 adjacent channels in steps of four inputs),
// NAME.weight_scale, F32 [out], and NAME.weight_sum, F32 [out] (the sum of each channel's weights, so that Load need not read the matrices).
// The model's results stay exactly the same. Matrices whose sizes are not multiples of 64 and 4 are left
// out. Panels returns nil if no matrix remains.
func Panels(file []byte) ([]byte, error) {
	ts, err := readTensors(file)
	if err != nil {
		return nil, err
	}
	done := map[string]tensor{}
	for name, t := range ts {
		base, isWeight := strings.CutSuffix(strings.TrimSuffix(name, "_q4"), ".weight")
		if !isWeight || !strings.Contains(base, "encoder.layer.") || len(t.shape) != 2 {
			continue
		}
		out, in := t.shape[0], t.shape[1]
		if t.dtype == "U8" {
			in *= 2
		}
		if out == 0 || in == 0 || in > maxWidth || out%groupCols != 0 || in%packDepth != 0 {
			continue
		}
		w, err := findWeights(ts, base, out, in)
		if err != nil {
			return nil, err
		}
		panels, scales, sums, err := w.panels()
		if err != nil {
			return nil, err
		}
		done[base+".weight"], done[base+".weight_scale"], done[base+".weight_sum"] = panels, scales, sums
	}
	if len(done) == 0 {
		return nil, nil
	}
	return writeTensors(done)
}

// panels returns the matrix in panels, its scales and its sums.
func (w *weights) panels() (q, scale, sum tensor, err error) {
	l, p := newLinear(w.out, w.in), newPacker(&genericKernels)
	if err := p.pack(packing{l: l, factor: 1, from: *w}); err != nil {
		return q, scale, sum, err
	}
	q = tensor{"I8", []int{w.out / panelCols, w.in / packDepth, panelCols, packDepth}, bytes.Join(l.groups, nil)}
	scale, sum = tensor{"F32", []int{w.out}, make([]byte, 0, 4*w.out)}, tensor{"F32", []int{w.out}, make([]byte, 0, 4*w.out)}
	sums := make([]float32, w.out)
	packing{l: l, from: weights{out: w.out, in: w.in, q: q}}.add(&genericKernels, sums)
	for o := range w.out {
		scale.data = binary.LittleEndian.AppendUint32(scale.data, math.Float32bits(l.column(o)[0]))
		sum.data = binary.LittleEndian.AppendUint32(sum.data, math.Float32bits(sums[o]))
	}
	return q, scale, sum, nil
}

// writeTensors writes a safetensors file without gaps: first the matrices in panels, whose sizes are multiples of panelAlign, then all
// others by name.
func writeTensors(ts map[string]tensor) ([]byte, error) {
	names := slices.Collect(maps.Keys(ts))
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(ts[b].shape)/4, len(ts[a].shape)/4), cmp.Compare(a, b))
	})
	header := []byte(`{"__metadata__":{"format":"pt"}`)
	size := 0
	for _, name := range names {
		t := ts[name]
		entry, err := json.Marshal(map[string]any{name: struct {
			DType   string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}{t.dtype, t.shape, [2]int{size, size + len(t.data)}}})
		if err != nil {
			return nil, err
		}
		header = append(append(header, ','), entry[1:len(entry)-1]...)
		size += len(t.data)
	}
	header = append(header, '}')
	for (8+len(header))%panelAlign != 0 {
		header = append(header, ' ')
	}
	out := make([]byte, 8, 8+len(header)+size)
	binary.LittleEndian.PutUint64(out, uint64(len(header)))
	out = append(out, header...)
	for _, name := range names {
		out = append(out, ts[name].data...)
	}
	return out, nil
}
