package sqlite

import "sync"

// since records what was written since a copy of the file was started.
type since struct {
	mu     sync.Mutex
	names  map[string]bool // names of written values; nil: no copy is being made
	beside bool            // something other than values was written
}

func (s *since) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names, s.beside = map[string]bool{}, false
}

func (s *since) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = nil
}

// note records a call that is about to be committed. name is the name of the value that the call wrote, or empty if it wrote anything else.
func (s *since) note(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.names == nil:
	case name == "" || len(s.names) >= maxSince:
		s.beside = true
	default:
		s.names[name] = true
	}
}

// maxSince is the maximal number of values that are added to a copy.
const maxSince = 1024

// void reports whether a copy lacks more than values, so that it is invalid.
func (s *since) void() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.beside
}

func (s *since) written() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.names {
		names = append(names, name)
	}
	return names
}
