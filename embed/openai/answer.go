package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// bytesPerNumber is an upper bound for one number of an answer: digits, sign, exponent, comma and indentation.
const bytesPerNumber = 40

// answerLimit is an upper bound for the answer of n texts, in bytes.
func (e *Embedder) answerLimit(n int) int64 {
	numbers := e.Dim()
	if numbers == 0 {
		numbers = maxDimensions
	}
	return int64(n)*(int64(numbers)*bytesPerNumber+1024) + 64<<10
}

// decode reads the vectors of n texts, which may come in any order.
func (e *Embedder) decode(data []byte, n int) ([][]float32, error) {
	dim := e.Dim()
	var answer struct {
		Data []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, e.http.Malformed(err, len(data))
	}
	if len(answer.Data) != n {
		return nil, e.http.Bad("%d vectors for %d texts", len(answer.Data), n)
	}
	vecs := make([][]float32, n)
	for i, d := range answer.Data {
		at := i // without an index, the vectors are in the order of the texts
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n {
			return nil, e.http.Bad("index %d for %d texts", at, n)
		}
		if vecs[at] != nil {
			return nil, e.http.Bad("index %d twice", at)
		}
		v, err := e.parseVector(d.Embedding)
		if err != nil {
			return nil, err
		}
		if dim == 0 {
			dim = len(v)
		}
		if len(v) != dim || dim > maxDimensions {
			return nil, e.http.Bad("vector of %d dimensions, want %d", len(v), min(dim, maxDimensions))
		}
		vecs[at] = v
	}
	// Another call may have learnt the dimension in the meantime.
	if !e.dim.CompareAndSwap(0, int64(dim)) && e.Dim() != dim {
		return nil, e.http.Bad("vector of %d dimensions, want %d", dim, e.Dim())
	}
	return vecs, nil
}

// parseVector reads a JSON array of numbers. Numbers that are null, as some
// servers write NaN, or too large for float32 are refused.
func (e *Embedder) parseVector(raw []byte) ([]float32, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '[' {
		return nil, e.http.Bad("a vector is not an array of numbers")
	}
	raw = raw[1 : len(raw)-1] // valid JSON, so the bracket is closed
	v := make([]float32, 0, bytes.Count(raw, []byte{','})+1)
	for more := true; more; {
		var field []byte
		field, raw, more = bytes.Cut(raw, []byte{','})
		f, err := strconv.ParseFloat(string(bytes.TrimSpace(field)), 32)
		if err != nil { // out of range, or no number at all
			return nil, e.http.Bad("a vector has something other than finite numbers")
		}
		v = append(v, float32(f))
	}
	return v, nil
}
