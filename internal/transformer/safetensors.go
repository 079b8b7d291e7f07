package transformer

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// tensor is one entry of a safetensors file. Its data is a slice of the file, with any alignment.
type tensor struct {
	dtype string
	shape []int
	data  []byte
}

// dtypeSize maps the supported types to the size of a value in bytes.
var dtypeSize = map[string]int{"F32": 4, "F16": 2, "BF16": 2, "I8": 1, "U8": 1}

// maxHeader bounds the JSON header of a safetensors file, as the reference reader does.
const maxHeader = 100_000_000

// readTensors reads the table of a safetensors file: the header's length in eight bytes, the header (JSON: name to dtype, shape and
// data_offsets), the data. Tensors of types that are not in dtypeSize are left out, as no encoder needs them.
func readTensors(file []byte) (map[string]tensor, error) {
	if len(file) < 8 {
		return nil, errors.New("safetensors: shorter than its length field")
	}
	n := binary.LittleEndian.Uint64(file)
	if n > maxHeader || n > uint64(len(file)-8) {
		return nil, errors.New("safetensors: header longer than the file")
	}
	var entries map[string]struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets []int  `json:"data_offsets"`
	}
	if err := json.Unmarshal(file[8:8+n], &entries); err != nil {
		return nil, errors.New("safetensors: header is not a JSON object of tensors")
	}
	delete(entries, "__metadata__")
	data := file[8+n:]
	left := len(data)
	out := make(map[string]tensor, len(entries))
	for name, e := range entries {
		size, ok := dtypeSize[e.DType]
		if !ok {
			continue
		}
		if len(e.Offsets) != 2 || e.Offsets[0] < 0 || e.Offsets[1] < e.Offsets[0] || e.Offsets[1] > len(data) {
			return nil, fmt.Errorf("safetensors: tensor %.100q: data_offsets outside the file", name)
		}
		t := tensor{e.DType, e.Shape, data[e.Offsets[0]:e.Offsets[1]]}
		if !t.fills(size) {
			return nil, fmt.Errorf("safetensors: tensor %.100q: shape and data_offsets disagree", name)
		}
		// Tensors that share data could describe a model much larger than the file.
		if left -= len(t.data); left < 0 {
			return nil, errors.New("safetensors: tensors overlap")
		}
		out[name] = t
	}
	return out, nil
}

// fills reports whether the data has the length that the shape requires, for values of size bytes.
func (t tensor) fills(size int) bool {
	want := size
	for _, d := range t.shape {
		if d < 0 || d > 0 && want > len(t.data)/d {
			return false
		}
		want *= d
	}
	return want == len(t.data)
}

// is reports whether the shape is exactly dims.
func (t tensor) is(dims ...int) bool {
	if len(t.shape) != len(dims) {
		return false
	}
	for i, d := range dims {
		if t.shape[i] != d {
			return false
		}
	}
	return true
}

// floats reports whether the tensor holds floating point numbers.
func (t tensor) floats() bool { return t.dtype == "F32" || t.dtype == "F16" || t.dtype == "BF16" }
