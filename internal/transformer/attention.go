package transformer

// attendRows is how many queries of a text are compared with all its keys at a time. For texts of usual length their scores fit into
// the first level cache.
const attendRows = 24

// attend sets y to the attention of every text, head by head, over the queries, keys and values in qkv, whose rows are width values
// apart. With firstOnly, only the first row of each text is a query.
func (s *scratch) attend(k *kernels, c *Config, width int, firstOnly bool) {
	size := c.Hidden / c.Heads
	for _, t := range s.spans {
		queries := t.n
		if firstOnly {
			queries = 1
		}
		padded := roundUp(t.n, scorePad)
		for h := range c.Heads {
			at := t.first*width + h*size
			q, keys, values := s.qkv[at:], s.qkv[at+c.Hidden:], s.qkv[at+2*c.Hidden:]
			transpose(s.keys, padded, keys, width, t.n, size)
			for i := 0; i < queries; i += attendRows {
				rows := min(attendRows, queries-i)
				k.matmul(s.scores, padded, q[i*width:], width, s.keys, padded, rows, padded, size)
				k.softmax(s.scores, padded, rows, t.n)
				k.matmul(s.y[(t.first+i)*s.stride+h*size:], s.stride, s.scores, padded, values, width, rows, size, t.n)
			}
		}
	}
}

// scorePad is the multiple to which the number of keys is rounded up, so that kernels process whole registers. The padding keys are 0;
// softmax ignores their scores.
const scorePad = 16

// transpose sets dst[j*ldd+i] to src[i*lds+j] for i < n and j < size, and to 0 for i from n up to ldd, a multiple of 4. It processes
// four rows of src at a time.
func transpose(dst []float32, ldd int, src []float32, lds, n, size int) {
	i := 0
	for ; i+4 <= n; i += 4 {
		a, b := src[i*lds:][:size], src[(i+1)*lds:][:size]
		c, d := src[(i+2)*lds:][:size], src[(i+3)*lds:][:size]
		at := dst[i:]
		for j := range size {
			out := at[j*ldd:][:4]
			out[0], out[1], out[2], out[3] = a[j], b[j], c[j], d[j]
		}
	}
	for j := range size {
		row := dst[j*ldd:][:ldd]
		clear(row[n:])
		for k := i; k < n; k++ {
			row[k] = src[k*lds+j]
		}
	}
}
