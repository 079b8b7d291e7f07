package intake

import (
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/metadata"
)

// sessionAfter returns the session of an item whose metadata become meta and add. A memory that was in the session that its
// metadata named follows them; one whose caller named the session stays there.
func sessionAfter(src *backend.Source, meta, add map[string]any) (string, error) {
	if src.Part.Class != backend.Memory {
		return src.Session, nil
	}
	was, err := metadata.DecodeMap(src.Metadata)
	if err != nil {
		return "", err
	}
	wasAdd, err := metadata.DecodeMap(src.Additional)
	if err != nil {
		return "", err
	}
	if metadata.Session(wasAdd, was) != src.Session {
		return src.Session, nil
	}
	return metadata.Session(add, meta), nil
}
