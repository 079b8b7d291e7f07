package pdf

import "math"

// matrix is a transformation [a b c d e f] (ISO 32000-1, 8.3.3).
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// times returns the transformation that applies m first and then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func (m matrix) apply(x, y float64) (float64, float64) {
	return m[0]*x + m[2]*y + m[4], m[1]*x + m[3]*y + m[5]
}

// sane reports whether all numbers are finite and small enough to compute with.
func (m matrix) sane() bool {
	for _, v := range m {
		if !isSane(v) {
			return false
		}
	}
	return true
}

func isSane(v float64) bool { return math.Abs(v) <= 1e9 }

// box is a rectangle with x0 <= x1 and y0 <= y1.
type box struct{ x0, y0, x1, y1 float64 }

func makeBox(v []float64) box {
	return box{min(v[0], v[2]), min(v[1], v[3]), max(v[0], v[2]), max(v[1], v[3])}
}

// transform returns the bounding box of the transformed corners.
func (b box) transform(m matrix) box {
	x, y := m.apply(b.x0, b.y0)
	out := box{x, y, x, y}
	for _, p := range [3][2]float64{{b.x1, b.y0}, {b.x0, b.y1}, {b.x1, b.y1}} {
		x, y := m.apply(p[0], p[1])
		out = box{min(out.x0, x), min(out.y0, y), max(out.x1, x), max(out.y1, y)}
	}
	return out
}
