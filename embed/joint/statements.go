package joint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/contextmem/contextmem/embed"
)

// WithStatements returns the embedder with trained weights that recognise the slots of statements: see embed.StatementReader. The
// vectors and Model stay the same.
//
// The weights begin with three little-endian 32-bit numbers: Dim, the slots and the length of the names in bytes. Then come the names,
// one a line, and in 16-bit floats [slots, Dim] and [slots] biases. The weights are copied.
func (e *Embedder) WithStatements(weights []byte) (*Embedder, error) {
	s, err := readStatements(weights, e.Dim())
	if err != nil {
		return nil, fmt.Errorf("joint: weights of statements %w", err)
	}
	out := *e
	out.statements = s
	return &out, nil
}

func readStatements(b []byte, dim int) ([]embed.StatementSlot, error) {
	cut := errors.New("are cut off or too long")
	if len(b) < 12 {
		return nil, cut
	}
	of, slots, letters := int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:])), int(binary.LittleEndian.Uint32(b[8:]))
	switch {
	case of != dim:
		return nil, fmt.Errorf("are not of %d dimensions", dim)
	case letters > mostNames || slots < 1 || slots > letters:
		return nil, errors.New("are of no size that there is")
	}
	if b = b[12:]; len(b) != letters+2*slots*(dim+1) {
		return nil, cut
	}
	names := strings.Split(string(b[:letters]), "\n")
	if len(names) != slots {
		return nil, errors.New("do not name their slots")
	}
	all, err := floats(b[letters:])
	if err != nil {
		return nil, err
	}
	out := make([]embed.StatementSlot, slots)
	for i, name := range names {
		if name == "" {
			return nil, errors.New("do not name their slots")
		}
		out[i] = embed.StatementSlot{Name: name, Vector: all[i*dim : (i+1)*dim : (i+1)*dim], Bias: float64(all[slots*dim+i])}
	}
	return out, nil
}

// StatementSlots implements embed.StatementReader, nil without weights.
func (e *Embedder) StatementSlots() []embed.StatementSlot { return e.statements }
