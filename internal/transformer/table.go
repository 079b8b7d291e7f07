package transformer

// table is an embedding table with one row per id, read in place from the file.
type table struct{ weights }

// add adds the row of id to dst. scratch must have room for a row.
func (t *table) add(dst, scratch []float32, id int) {
	size := len(t.q.data) / t.out
	data := t.q.data[id*size:][:size]
	dst = dst[:t.in]
	switch t.q.dtype {
	case "I8":
		s := scratch[:1]
		t.readScales(s, id)
		for i, b := range data {
			dst[i] += float32(int8(b)) * s[0]
		}
	case "U8":
		s := scratch[:t.groups]
		t.readScales(s, id)
		t.addNibbles(dst, data, s)
	default:
		row := scratch[:t.in]
		decode(row, data, t.q.dtype)
		for i, x := range row {
			dst[i] += x
		}
	}
}

// addNibbles adds a row of 4-bit values with one scale per group.
func (t *table) addNibbles(dst []float32, data []byte, scales []float32) {
	group := len(data) / len(scales)
	for g, s := range scales {
		from, to := data[g*group:][:group], dst[2*g*group:][:2*group]
		for i, b := range from {
			to[2*i] += float32(int(b&15)-8) * s
			to[2*i+1] += float32(int(b>>4)-8) * s
		}
	}
}
