package transformer

// span is the range of a text's tokens in the rows of a batch.
type span struct{ first, n int }

// scratch is the working memory of one call. Its buffers grow to the largest batch.
type scratch struct {
	rows   int
	stride int // of x and y
	spans  []span

	x    []float32 // the rows
	y    []float32 // the values that are added to the rows
	qkv  []float32
	wide []float32 // upRows of the feed-forward layer's width

	q         []uint8 // rows quantised
	scale     []rowScale
	qWide     []uint8 // wide rows quantised
	scaleWide []rowScale

	keys   []float32 // one head's keys of one text, transposed
	scores []float32 // attendRows times a text's keys
	table  []float32 // one row of an embedding table
	res    []float32 // a token's position and type embeddings
}

// borrow returns scratch memory from the model's pool.
func (m *Model) borrow() *scratch {
	if s, ok := m.scratch.Get().(*scratch); ok {
		return s
	}
	return &scratch{}
}

// reset makes room for rows tokens.
func (s *scratch) reset(m *Model, rows int) {
	l := &m.layers[0]
	s.rows, s.stride, s.spans = rows, l.project.width, s.spans[:0]
	s.x = grow(s.x, rows*s.stride)
	s.y = grow(s.y, rows*s.stride)
	s.qkv = grow(s.qkv, rows*l.qkv.width)
	s.wide = grow(s.wide, min(rows, upRows)*l.up.width)
	s.q = grow(s.q, rows*l.qkv.steps*packDepth*m.k.valueSize)
	s.scale = grow(s.scale, rows)
	s.qWide = grow(s.qWide, rows*l.down.steps*packDepth*m.k.valueSize)
	s.scaleWide = grow(s.scaleWide, rows)
	padded := roundUp(min(rows, m.MaxTokens()), scorePad)
	s.keys = grow(s.keys, padded*m.cfg.Hidden/m.cfg.Heads)
	s.scores = grow(s.scores, padded*attendRows)
	s.table = grow(s.table, m.cfg.Hidden)
	s.res = grow(s.res, m.cfg.Hidden)
}

// grow returns b with at least n values, whose content is undefined.
func grow[T any](b []T, n int) []T {
	if n > len(b) {
		return make([]T, n)
	}
	return b
}

// quantise quantises the first n rows of src, of width values each.
func (s *scratch) quantise(k *kernels, src []float32, stride, width, n int) {
	size := roundUp(width, packDepth) * k.valueSize
	for r := range n {
		s.scale[r] = k.quantise(s.q[r*size:][:size], src[r*stride:][:width])
	}
}

// multiply sets dst to the output of l for n quantised rows from row first on.
func (s *scratch) multiply(k *kernels, dst []float32, l *linear, first, n int) {
	multiply(k, dst, s.q[first*l.steps*packDepth*k.valueSize:], s.scale[first:first+n], l)
}

// multiply sets dst to the output of l for the rows of a; the rows of dst are l.width apart.
func multiply(k *kernels, dst []float32, a []uint8, rows []rowScale, l *linear) {
	depth := l.steps * packDepth
	for g, w := range l.groups {
		c := g * groupCols
		k.gemm(dst[c:], l.width, a, depth*k.valueSize, rows, w, l.steps, l.cols[3*c:][:3*groupCols])
	}
}

// pool sets dst to the pooled vector of a text.
func (s *scratch) pool(dst []float32, t span, pool Pooling) {
	copy(dst, s.x[t.first*s.stride:])
	if pool == PoolCLS {
		return
	}
	for r := 1; r < t.n; r++ {
		for i, v := range s.x[(t.first+r)*s.stride:][:len(dst)] {
			dst[i] += v
		}
	}
	inv := 1 / float32(t.n)
	for i := range dst {
		dst[i] *= inv
	}
}

// keepFirst moves the first rows of all texts to the front of x and y and drops the other rows.
func (s *scratch) keepFirst() {
	for i, t := range s.spans {
		copy(s.x[i*s.stride:][:s.stride], s.x[t.first*s.stride:])
		copy(s.y[i*s.stride:][:s.stride], s.y[t.first*s.stride:])
		s.spans[i] = span{i, 1}
	}
	s.rows = len(s.spans)
}
