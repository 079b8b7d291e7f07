package sqlite

import "sync"

// since is what was written since a copy of the file was begun.
type since struct {
	mu     sync.Mutex
	names  map[string]bool // of values; nil: no copy is made
	beside bool            // something else was
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

// note is called for each call that is about to be committed: name is that of the one value that it wrote, empty for all else.
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

// maxSince is how many values a copy gets.
const maxSince = 1024

// void reports whether a copy lacks more than values.
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
