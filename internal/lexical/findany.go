package lexical

import "slices"

// FindAny implements [Part].
func (m *Mem) FindAny(terms []string, rows []uint32, has, known []bool) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var ids []uint32
	for _, t := range terms {
		if id, ok := m.ids.of(m.terms, t); ok {
			ids = append(ids, id)
		}
	}
	for i, row := range rows {
		if doc, ok := m.find(row); ok {
			known[i] = true
			if len(ids) > 0 {
				m.eachTerm(doc, func(term, _ uint32) { has[i] = has[i] || slices.Contains(ids, term) })
			}
		}
	}
	return nil
}

// FindAny implements [Part]. The error is ErrCorrupt.
func (s *Segment) FindAny(terms []string, rows []uint32, has, known []bool) error {
	var ids []uint32
	for _, t := range terms {
		if id := s.lookup(t); id != noTerm {
			ids = append(ids, id)
		}
	}
	for i, row := range rows {
		doc, ok := s.liveDoc(row)
		if !ok {
			continue
		}
		known[i] = true
		if len(ids) == 0 {
			continue
		}
		err := s.eachTerm(doc, func(term, _ uint32) { has[i] = has[i] || slices.Contains(ids, term) })
		if err != nil {
			return err
		}
	}
	return nil
}
