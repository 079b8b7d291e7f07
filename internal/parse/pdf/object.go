package pdf

// The object types of a PDF file (ISO 32000-1, 7.3). null is nil, booleans are bool, numbers are int or float64.
type (
	name    string
	str     string
	keyword string
	array   []any
	dict    map[name]any
	ref     struct{ num, gen int }
)

// stream is a stream object: its dictionary and its raw bytes in the file, which are decrypted and decoded when they are read.
type stream struct {
	dict dict
	raw  []byte
	id   ref
}

// number returns o as a float and reports whether it is a number.
func number(o any) (float64, bool) {
	switch v := o.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// integer returns o as an int and reports whether it is a number that fits an int.
func integer(o any) (int, bool) {
	switch v := o.(type) {
	case int:
		return v, true
	case float64:
		if v > -1<<31 && v < 1<<31 {
			return int(v), true
		}
	}
	return 0, false
}
