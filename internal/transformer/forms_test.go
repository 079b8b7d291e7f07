package transformer

import (
	"encoding/binary"
	"math"
	"strings"
)

// form stores a matrix, called name without ".weight", in one of the ways that Load reads.
type form func(name string, m matrix, to map[string]stored)

var forms = map[string]form{"f32": asF32, "f16": asF16, "bf16": asBF16, "i8": asI8, "q4": asQ4, "q4 per row": asQ4Row}

// as stores the checkpoint with the matrices of the encoder and the word embeddings in a form.
func (c checkpoint) as(f form) []byte {
	ts := map[string]stored{}
	for n, m := range c.tensors {
		name, weight := strings.CutSuffix(n, ".weight")
		if weight && m.cols > 0 && c.reformed(n) {
			f(name, m, ts)
		} else {
			ts[n] = f32(m)
		}
	}
	return safetensors(ts)
}

// roundedTo returns the checkpoint with each reformed matrix rounded to what form f represents.
func (c checkpoint) roundedTo(f form) checkpoint {
	out := checkpoint{c.cfg, map[string]matrix{}}
	for n, m := range c.tensors {
		ts := map[string]stored{}
		name := strings.TrimSuffix(n, ".weight")
		if m.cols > 0 && c.reformed(n) {
			f(name, m, ts)
			m = matrix{m.rows, m.cols, readBack(name, m, ts)}
		}
		out.tensors[n] = m
	}
	return out
}

func readBack(name string, m matrix, ts map[string]stored) []float32 {
	number := func(s stored, i int) float32 {
		switch s.dtype {
		case "F16":
			return half(binary.LittleEndian.Uint16(s.data[2*i:]))
		case "BF16":
			return math.Float32frombits(uint32(binary.LittleEndian.Uint16(s.data[2*i:])) << 16)
		}
		return math.Float32frombits(binary.LittleEndian.Uint32(s.data[4*i:]))
	}
	w, scale := ts[name+".weight"], ts[name+".weight_scale"]
	q4, four := ts[name+".weight_q4"]
	out := make([]float32, len(m.v))
	for i := range out {
		switch {
		case four:
			groups := max(1, len(scale.data)/2/m.rows)
			out[i] = float32(int(q4.data[i/2]>>(4*(i%2))&15)-8) * number(scale, i/(m.cols/groups))
		case w.dtype == "I8":
			out[i] = float32(int8(w.data[i])) * number(scale, i/m.cols)
		default:
			out[i] = number(w, i)
		}
	}
	return out
}

// reformed reports whether a form applies to the tensor of a name.
func (c checkpoint) reformed(name string) bool {
	return strings.Contains(name, "encoder.") || strings.Contains(name, "word_embeddings")
}

func asF32(name string, m matrix, to map[string]stored) { to[name+".weight"] = f32(m) }

func asF16(name string, m matrix, to map[string]stored) {
	s := stored{dtype: "F16", shape: []int{m.rows, m.cols}}
	for _, v := range m.v {
		s.data = binary.LittleEndian.AppendUint16(s.data, toHalf(v))
	}
	to[name+".weight"] = s
}

// toHalf converts a number to binary16, rounded to the nearest.
func toHalf(v float32) uint16 {
	sign := uint16(math.Float32bits(v) >> 16 & 0x8000)
	frac, exp := math.Frexp(math.Abs(float64(v))) // frac in 1/2..1
	if v == 0 || exp < -13 {
		return sign | uint16(math.RoundToEven(math.Abs(float64(v))*(1<<24)))
	}
	return sign | (uint16(exp+14)<<10 + uint16(math.RoundToEven((frac*2-1)*1024)))
}

func asBF16(name string, m matrix, to map[string]stored) {
	s := stored{dtype: "BF16", shape: []int{m.rows, m.cols}}
	for _, v := range m.v {
		s.data = binary.LittleEndian.AppendUint16(s.data, uint16((math.Float32bits(v)+1<<15)>>16))
	}
	to[name+".weight"] = s
}

func asI8(name string, m matrix, to map[string]stored) {
	s, scale := stored{dtype: "I8", shape: []int{m.rows, m.cols}}, matrix{rows: m.rows}
	for o := range m.rows {
		row := m.v[o*m.cols:][:m.cols]
		step := largest(row) / 127
		for _, v := range row {
			s.data = append(s.data, byte(int8(math.RoundToEven(float64(v/step)))))
		}
		scale.v = append(scale.v, step)
	}
	to[name+".weight"], to[name+".weight_scale"] = s, f32(scale)
}

func largest(row []float32) float32 {
	var top float32
	for _, v := range row {
		top = max(top, float32(math.Abs(float64(v))))
	}
	return top
}

// asQ4 stores groups of 32 weights with a scale each, or of the whole row if 32 does not divide it.
func asQ4(name string, m matrix, to map[string]stored) {
	group := 32
	if m.cols%group != 0 {
		group = m.cols
	}
	groups4(name, m, group, to)
}

func asQ4Row(name string, m matrix, to map[string]stored) { groups4(name, m, m.cols, to) }

func groups4(name string, m matrix, group int, to map[string]stored) {
	q := stored{dtype: "U8", shape: []int{m.rows, m.cols / 2}}
	scale := stored{dtype: "F16", shape: []int{m.rows, m.cols / group}}
	if group == m.cols {
		scale.shape = scale.shape[:1]
	}
	for at := 0; at < len(m.v); at += group {
		g := m.v[at : at+group]
		h := toHalf(largest(g) / 7)
		scale.data = binary.LittleEndian.AppendUint16(scale.data, h)
		nibble := func(v float32) byte {
			return byte(min(max(math.Round(float64(v/half(h))), -8), 7) + 8)
		}
		for i := 0; i < group; i += 2 {
			q.data = append(q.data, nibble(g[i])|nibble(g[i+1])<<4)
		}
	}
	to[name+".weight_q4"], to[name+".weight_scale"] = q, scale
}
