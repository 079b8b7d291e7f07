package simd

// The portable kernels. They are the reference in the tests of the assembly.

func dotU8Generic(dst []int32, rows []uint8, q []int8) {
	n := len(q)
	for i := range dst {
		row := rows[i*n : (i+1)*n]
		var s0, s1, s2, s3 int32
		for j := 0; j+4 <= len(row) && j+4 <= len(q); j += 4 {
			s0 += int32(row[j]) * int32(q[j])
			s1 += int32(row[j+1]) * int32(q[j+1])
			s2 += int32(row[j+2]) * int32(q[j+2])
			s3 += int32(row[j+3]) * int32(q[j+3])
		}
		dst[i] = s0 + s1 + s2 + s3
	}
}

func dotF32Generic(dst []float32, rows []float32, q []float32) {
	n := len(q)
	for i := range dst {
		row := rows[i*n : (i+1)*n]
		var l [16]float32
		for j := 0; j+16 <= len(row) && j+16 <= len(q); j += 16 {
			a, b := (*[16]float32)(row[j:]), (*[16]float32)(q[j:])
			for k := range l {
				l[k] += float32(a[k] * b[k]) // the conversion prevents a fused multiply-add
			}
		}
		for w := 8; w > 0; w /= 2 {
			for k := range w {
				l[k] += l[k+w]
			}
		}
		dst[i] = l[0]
	}
}

func addScaledGeneric(dst []float32, row []uint8, scale float32) {
	for len(dst) >= 8 && len(row) >= 8 {
		d, r := dst[:8:8], row[:8:8]
		for k := range d {
			d[k] += float32(scale * float32(int8(r[k]))) // the conversion prevents a fused multiply-add
		}
		dst, row = dst[8:], row[8:]
	}
}
