package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// answerError is a successful answer that cannot be used. Its text never quotes
// the answer.
type answerError struct {
	what string
	cut  bool // it ended early, so another try may bring all of it
}

func (e *answerError) Error() string { return "openai: bad answer: " + e.what }

func badAnswer(format string, args ...any) error {
	return &answerError{what: fmt.Sprintf(format, args...)}
}

// bytesPerNumber is ample for one number of an answer: digits, sign, exponent,
// comma and indentation.
const bytesPerNumber = 40

// decode reads the vectors of n texts, in whatever order they come.
func (e *Embedder) decode(body io.Reader, n int) ([][]float32, error) {
	dim := e.Dim()
	numbers := dim
	if dim == 0 {
		numbers = maxDimensions
	}
	data, err := readAtMost(body, int64(n)*(int64(numbers)*bytesPerNumber+1024)+64<<10)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, decodeError(err, len(data))
	}
	if len(answer.Data) != n {
		return nil, badAnswer("%d vectors for %d texts", len(answer.Data), n)
	}
	vecs := make([][]float32, n)
	for i, d := range answer.Data {
		at := i // servers that leave the index out keep the order
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n {
			return nil, badAnswer("index %d for %d texts", at, n)
		}
		if vecs[at] != nil {
			return nil, badAnswer("index %d twice", at)
		}
		v, err := parseVector(d.Embedding)
		if err != nil {
			return nil, err
		}
		if dim == 0 {
			dim = len(v)
		}
		if len(v) != dim || dim > maxDimensions {
			return nil, badAnswer("vector of %d dimensions, want %d", len(v), min(dim, maxDimensions))
		}
		vecs[at] = v
	}
	// Another call may have learnt the dimension in the meantime.
	if !e.dim.CompareAndSwap(0, int64(dim)) && e.Dim() != dim {
		return nil, badAnswer("vector of %d dimensions, want %d", dim, e.Dim())
	}
	return vecs, nil
}

// readAtMost reads all of body, which must not be longer than limit.
func readAtMost(body io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	switch {
	case int64(len(data)) > limit:
		return nil, badAnswer("longer than %d bytes", limit)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, &answerError{what: "it ends early", cut: true}
	case err != nil:
		return nil, fmt.Errorf("openai: reading the answer: %w", err)
	}
	return data, nil
}

// parseVector reads a JSON array of numbers. Numbers that are null, as some
// servers write NaN, or too large for float32 are refused.
func parseVector(raw []byte) ([]float32, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '[' {
		return nil, badAnswer("a vector is not an array of numbers")
	}
	raw = raw[1 : len(raw)-1] // valid JSON, so the bracket is closed
	v := make([]float32, 0, bytes.Count(raw, []byte{','})+1)
	for more := true; more; {
		var field []byte
		field, raw, more = bytes.Cut(raw, []byte{','})
		f, err := strconv.ParseFloat(string(bytes.TrimSpace(field)), 32)
		if err != nil { // out of range, or no number at all
			return nil, badAnswer("a vector has something other than finite numbers")
		}
		v = append(v, float32(f))
	}
	return v, nil
}

// decodeError describes a failure to decode an answer of size bytes without
// quoting it, as the decoder's own errors do.
func decodeError(err error, size int) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		if syntax.Offset >= int64(size) {
			return &answerError{what: "it ends early", cut: true}
		}
		return badAnswer("not JSON at byte %d", syntax.Offset)
	}
	return badAnswer("not the documented structure")
}
