package httpapi

import (
	"errors"
	"math"
	"strconv"
)

var errNoJSON = errors.New("a number has no JSON form")

// appendFloat appends f in as few digits as tell it from every other float64.
func appendFloat(b []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return b, errNoJSON
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64), nil
}

// appendFloat32 appends f in as few digits as tell it from every other float32.
func appendFloat32(b []byte, f float32) ([]byte, error) {
	if f >= 1e-4 && f <= 1 { // numbers of this range with six decimals are further apart than float32
		if n := millionths(float64(f)); float32(float64(n)/1e6) == f {
			return appendMillionths(b, n), nil
		}
	}
	if f != f || math.IsInf(float64(f), 0) {
		return b, errNoJSON
	}
	return strconv.AppendFloat(b, float64(f), 'g', -1, 32), nil
}

// appendScore appends f rounded to six decimals, without zeros at the end. What is too large for them
// to matter, 1e9 and more, has all its digits.
func appendScore(b []byte, f float64) ([]byte, error) {
	size := math.Abs(f)
	if !(size < 1e9) {
		return appendFloat(b, f)
	}
	n := millionths(size)
	if f < 0 && n > 0 {
		b = append(b, '-')
	}
	return appendMillionths(b, n), nil
}

// millionths returns f in millionths, rounded as strconv rounds: to the nearest, a half to the even one. f is in [0, 1e9).
func millionths(f float64) int64 {
	p := f * 1e6
	n := int64(p)
	switch rest := p - float64(n); {
	case rest > .5:
		n++
	case rest == .5: // the product may have been rounded to it
		if lost := math.FMA(f, 1e6, -p); lost > 0 || lost == 0 && n&1 == 1 {
			n++
		}
	}
	return n
}

// appendMillionths appends n / 1e6 as a decimal number without zeros at the end. n is not negative.
func appendMillionths(b []byte, n int64) []byte {
	b = strconv.AppendInt(b, n/1e6, 10)
	rest := n % 1e6
	if rest == 0 {
		return b
	}
	hi, mid, lo := 2*(rest/1e4), 2*(rest/100%100), 2*(rest%100)
	digits := [...]byte{'.', twoDigits[hi], twoDigits[hi+1], twoDigits[mid], twoDigits[mid+1], twoDigits[lo], twoDigits[lo+1]}
	end := len(digits)
	for digits[end-1] == '0' {
		end--
	}
	return append(b, digits[:end]...)
}

// twoDigits holds the numbers from 00 to 99.
var twoDigits = func() (d [200]byte) {
	for i := range 100 {
		d[2*i], d[2*i+1] = '0'+byte(i/10), '0'+byte(i%10)
	}
	return d
}()
