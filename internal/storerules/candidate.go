package storerules

// Candidate is a source that a worker can claim.
type Candidate struct {
	Num  int64 // number of the source
	Size int64 // bytes of its content
}

// Fitting returns the first candidates whose total size is at most maxBytes, but at least one candidate. 0 means no limit.
func Fitting(found []Candidate, maxBytes int64) []Candidate {
	var bytes int64
	for i, f := range found {
		if bytes += f.Size; i > 0 && maxBytes > 0 && bytes > maxBytes {
			return found[:i]
		}
	}
	return found
}
