package lexical

// termSet numbers distinct terms in the order in which they come. Queries are
// mostly short, so it is a list first and a map only from some size on.
type termSet struct {
	terms  []string
	places map[string]int
}

// listTerms is the number of terms up to which comparing them all is quickest.
const listTerms = 12

// place returns the number of a term, and whether it is new.
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

// reset forgets all terms.
func (s *termSet) reset() {
	clear(s.terms)
	s.terms, s.places = s.terms[:0], nil
}
