package pdf

// unpredict reverses the predictor of Flate and LZW data (ISO 32000-1, 7.4.4.4) in place. If parameters are out of range it returns the
// data unchanged.
func (d *document) unpredict(data []byte, parms dict) []byte {
	predictor, ok := d.integer(parms["Predictor"])
	if !ok || predictor < 2 {
		return data
	}
	param := func(key name, def, most int) int {
		v, ok := d.integer(parms[key])
		if !ok {
			return def
		}
		if v < 1 || v > most {
			return 0
		}
		return v
	}
	columns := param("Columns", 1, 1<<20)
	colors := param("Colors", 1, 32)
	bits := param("BitsPerComponent", 8, 16)
	row := (columns*colors*bits + 7) / 8
	if row == 0 {
		return data
	}
	step := max(1, colors*bits/8)
	if predictor == 2 {
		return tiffPredictor(data, row, step, bits)
	}
	return pngPredictor(data, row, step)
}

// tiffPredictor adds to each sample the one to its left; samples are of 8 or 16 bits.
func tiffPredictor(data []byte, row, step, bits int) []byte {
	for start := 0; start+row <= len(data); start += row {
		line := data[start : start+row]
		switch bits {
		case 8:
			for i := step; i < len(line); i++ {
				line[i] += line[i-step]
			}
		case 16:
			for i := step; i+1 < len(line); i += 2 {
				v := int(line[i])<<8 + int(line[i+1]) + int(line[i-step])<<8 + int(line[i-step+1])
				line[i], line[i+1] = byte(v>>8), byte(v)
			}
		}
	}
	return data
}

// pngPredictor reverses the filter that the first byte of each row names. A short last row is kept.
func pngPredictor(data []byte, row, step int) []byte {
	out := data[:0]
	prior := make([]byte, row)
	for len(data) > 1 {
		kind := data[0]
		n := min(row, len(data)-1)
		line := data[1 : 1+n]
		data = data[1+n:]
		for i := range line {
			var left, up, corner byte
			up = prior[i]
			if i >= step {
				left, corner = line[i-step], prior[i-step]
			}
			switch kind {
			case 1:
				line[i] += left
			case 2:
				line[i] += up
			case 3:
				line[i] += byte((int(left) + int(up)) / 2)
			case 4:
				line[i] += paeth(left, up, corner)
			}
		}
		copy(prior, line)
		out = append(out, line...)
	}
	return out
}

// paeth is the predictor of PNG filter type 4 (PNG specification, 9.4).
func paeth(a, b, c byte) byte {
	p := int(a) + int(b) - int(c)
	pa, pb, pc := abs(p-int(a)), abs(p-int(b)), abs(p-int(c))
	if pa <= pb && pa <= pc {
		return a
	}
	if pb <= pc {
		return b
	}
	return c
}

func abs(v int) int {
	if v < 0 {
		return -v
	}
	return v
}
