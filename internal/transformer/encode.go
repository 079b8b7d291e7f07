package transformer

import "context"

// batchRows is how many tokens pass through the layers together, unless a single text has more. Twice as many reuse weights a little better
// but need twice the memory; even more do not fit into the second-level cache.
const batchRows = 256

// upRows is how many rows of the feed-forward layer's width are kept as float32 at a time, before they are quantised.
const upRows = 48

// run passes texts through the first layers of the encoder, a batch at a time. It calls done for each batch with the index of its
// first text. With firstOnly, only the first token of each text is wanted, and the last of these layers is computed only for those.
func (m *Model) run(ctx context.Context, texts, types [][]int32, layers []layer, firstOnly bool, done func(s *scratch, first int)) error {
	s := m.borrow()
	defer m.scratch.Put(s)
	for first := 0; first < len(texts); {
		n, rows := 0, 0
		for first+n < len(texts) && (n == 0 || rows+len(texts[first+n]) <= batchRows) {
			rows += len(texts[first+n])
			n++
		}
		var of [][]int32
		if types != nil {
			of = types[first : first+n]
		}
		s.reset(m, rows)
		m.embed(s, texts[first:first+n], of)
		for i := range layers {
			if err := ctx.Err(); err != nil {
				return err
			}
			layers[i].run(m, s, firstOnly && i == len(layers)-1)
		}
		done(s, first)
		first += n
	}
	return nil
}

// embed fills s with the sum of the word, position and type embeddings, normalised.
func (m *Model) embed(s *scratch, texts, types [][]int32) {
	row, res := 0, s.res[:m.cfg.Hidden]
	for i, text := range texts {
		s.spans = append(s.spans, span{row, len(text)})
		position := 0
		for j, id := range text {
			x := s.x[row*s.stride:][:m.cfg.Hidden]
			clear(x)
			clear(res)
			m.words.add(x, s.table, int(id))
			m.positions.add(res, s.table, m.position(&position, id))
			if m.cfg.TypeVocab > 0 {
				t := 0
				if types != nil {
					t = int(types[i][j])
				}
				m.types.add(res, s.table, t)
			}
			m.k.addNorm(x, res, &m.norm, float32(m.cfg.LayerNormEps))
			row++
		}
	}
}

// position returns the position of a token and advances next. In the RoBERTa families the padding token has its own position and is
// not counted.
func (m *Model) position(next *int, id int32) int {
	if !m.cfg.offsetsPositions() {
		*next++
		return *next - 1
	}
	if int(id) == m.cfg.PadID {
		return m.cfg.PadID
	}
	*next++
	return m.cfg.PadID + *next
}

// run passes the rows of s through one layer. With firstOnly, it returns only the first row of each text, and s shrinks to these rows.
func (l *layer) run(m *Model, s *scratch, firstOnly bool) {
	k, eps := m.k, float32(m.cfg.LayerNormEps)
	s.quantise(k, s.x, s.stride, l.qkv.in, s.rows)
	s.multiply(k, s.qkv, l.qkv, 0, s.rows)
	s.attend(k, &m.cfg, l.qkv.width, firstOnly)
	if firstOnly {
		s.keepFirst()
	}

	s.quantise(k, s.y, s.stride, l.project.in, s.rows)
	s.multiply(k, s.y, l.project, 0, s.rows)
	s.addNorm(k, &l.norm1, eps)

	s.quantise(k, s.x, s.stride, l.up.in, s.rows)
	s.feedForward(k, l, activations[m.cfg.Act])
	s.addNorm(k, &l.norm2, eps)
}

// feedForward sets y to the output of the two feed-forward layers for the quantised rows. The wide rows between the layers are
// computed and quantised a block at a time.
func (s *scratch) feedForward(k *kernels, l *layer, act *gelu) {
	size := l.down.steps * packDepth * k.valueSize
	for at := 0; at < s.rows; at += upRows {
		n := min(upRows, s.rows-at)
		s.multiply(k, s.wide, l.up, at, n)
		for r := range n {
			row := s.wide[r*l.up.width:][:l.up.out]
			if act == nil {
				relu(row)
			} else {
				k.activate(row, act)
			}
			s.scaleWide[at+r] = k.quantise(s.qWide[(at+r)*size:][:size], row)
		}
	}
	multiply(k, s.y, s.qWide, s.scaleWide[:s.rows], l.down)
}

func relu(v []float32) {
	for i, x := range v {
		v[i] = max(x, 0)
	}
}

// addNorm adds y to x and normalises x, row by row.
func (s *scratch) addNorm(k *kernels, n *norm, eps float32) {
	for r := range s.rows {
		at := r * s.stride
		k.addNorm(s.x[at:][:len(n.gain)], s.y[at:][:len(n.gain)], n, eps)
	}
}
