package transformer

import (
	"fmt"
	"math"
)

// classifier is the head of a sequence classifier: a dense layer with tanh over the first
// token's vector, then the logits of one or several heads.
type classifier struct {
	dense *linear
	heads []logitHead
}

// logitHead is a small layer in float32: labels rows of hidden weights.
type logitHead struct{ weight, bias []float32 }

// classifier finds the tensors of both layouts: BERT has a pooler in the encoder and "classifier", RoBERTa has "classifier.dense" and
// "classifier.out_proj".
func (l *loader) classifier() *classifier {
	dense, out := l.prefix+"pooler.dense", "classifier"
	if l.cfg.offsetsPositions() {
		dense, out = "classifier.dense", "classifier.out_proj"
	}
	c := &classifier{dense: l.linear(l.cfg.Hidden, l.cfg.Hidden, part{dense, 1})}
	if len(l.cfg.NamedHeads) == 0 {
		c.heads = []logitHead{l.logitHead(out, l.cfg.Labels)}
	}
	for _, h := range l.cfg.NamedHeads {
		c.heads = append(c.heads, l.logitHead("classifiers."+h.Name, h.Labels))
	}
	return c
}

func (l *loader) logitHead(name string, labels int) logitHead {
	t, n := l.ts[name+".weight"], labels*l.cfg.Hidden
	if !t.floats() || !t.is(labels, l.cfg.Hidden) {
		l.fail(fmt.Errorf("safetensors: %s.weight must be floats [%d, %d]", name, labels, l.cfg.Hidden))
		return logitHead{}
	}
	h := logitHead{make([]float32, n), l.vector(labels, name+".bias")}
	if decode(h.weight, t.data, t.dtype); !finite(h.weight) {
		l.fail(errNotFinite)
	}
	return h
}

// logits sets out to the logits of the vectors in the first len(out) rows of s.x.
func (c *classifier) logits(k *kernels, s *scratch, out [][]float32) {
	n := len(out)
	s.quantise(k, s.x, s.stride, c.dense.in, n)
	s.multiply(k, s.y, c.dense, 0, n)
	for i, o := range out {
		row := s.y[i*c.dense.width:][:c.dense.out]
		for j, v := range row {
			row[j] = float32(math.Tanh(float64(v)))
		}
		for _, h := range c.heads {
			for label, b := range h.bias {
				for j, w := range h.weight[label*len(row):][:len(row)] {
					b += w * row[j]
				}
				o[label] = b
			}
			o = o[len(h.bias):]
		}
	}
}
