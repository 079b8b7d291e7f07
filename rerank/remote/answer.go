package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// answerError is a successful answer that cannot be used. Its text never quotes the
// answer.
type answerError struct {
	what string
	cut  bool // it ended early, so another try may bring all of it
}

func (e *answerError) Error() string { return "remote: bad answer: " + e.what }

func badAnswer(format string, args ...any) error {
	return &answerError{what: fmt.Sprintf(format, args...)}
}

// bytesPerResult is ample for one result without its text; servers that send the
// texts back all the same get room for them too.
const bytesPerResult = 1 << 10

// result is a score in any dialect.
type result struct {
	Index     *int     `json:"index"`
	Relevance *float64 `json:"relevance_score"`
	Score     *float64 `json:"score"`
}

// decode reads the scores of len(scores) texts, in whatever order they come.
func (r *Reranker) decode(body io.Reader, scores []float64) error {
	limit := int64(len(scores))*(bytesPerResult+6*int64(max(r.cfg.MaxTextBytes, DefaultMaxBytes))) + 64<<10
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	switch {
	case int64(len(data)) > limit:
		return badAnswer("longer than %d bytes", limit)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &answerError{what: "it ends early", cut: true}
	case err != nil:
		return fmt.Errorf("remote: reading the answer: %w", err)
	}
	var results []result
	if r.cfg.Dialect == TEI {
		err = json.Unmarshal(data, &results)
	} else {
		var answer struct {
			Results []result `json:"results"`
		}
		err = json.Unmarshal(data, &answer)
		results = answer.Results
	}
	if err != nil {
		return decodeError(err, len(data))
	}
	if len(results) != len(scores) {
		return badAnswer("%d scores for %d texts", len(results), len(scores))
	}
	seen := make([]bool, len(scores))
	for _, x := range results {
		if x.Index == nil || *x.Index < 0 || *x.Index >= len(scores) {
			return badAnswer("an index is missing or outside 0 to %d", len(scores)-1)
		}
		if seen[*x.Index] {
			return badAnswer("index %d twice", *x.Index)
		}
		seen[*x.Index] = true
		v := x.Relevance
		if r.cfg.Dialect == TEI {
			v = x.Score
		}
		if v == nil { // null is how servers write a NaN
			return badAnswer("a score is missing or no number")
		}
		scores[*x.Index] = *v
	}
	return nil
}

// decodeError describes a failure to decode an answer of size bytes without quoting
// it, as the decoder's own errors do.
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
