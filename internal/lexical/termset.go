package lexical

// termSet numbers distinct terms in the order in which they are added. Most queries are
// short, so it is a list, and has a map only from listTerms terms on.
type termSet struct {
	terms  []string
	places map[string]int
}

// listTerms is the number of terms up to which a linear search is faster than a map.
const listTerms = 12

// place returns the number of a term, and reports whether place has added it.
func (s *termSet) place(term string) (n int, fresh bool) {
	n = len(s.terms)
	if s.places == nil {
		for i, t := range s.terms {
			if t == term {
				return i, false
			}
		}
		if s.terms == nil {
			s.terms = make([]string, 0, listTerms)
		}
		if s.terms = append(s.terms, term); n < listTerms {
			return n, true
		}
		s.places = make(map[string]int, 2*n)
		for i, t := range s.terms {
			s.places[t] = i
		}
		return n, true
	}
	if i, ok := s.places[term]; ok {
		return i, false
	}
	s.terms = append(s.terms, term)
	s.places[term] = n
	return n, true
}

// reset removes all terms.
func (s *termSet) reset() {
	clear(s.terms)
	s.terms, s.places = s.terms[:0], nil
}
