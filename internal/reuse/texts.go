package reuse

import "unsafe"

// Texts makes texts whose bytes lie in one memory. The zero value has none yet.
type Texts struct{ room []byte }

// Forget gives the memory to texts that are made from now on. None of those made so far may be used any more.
func (t *Texts) Forget() { t.room = t.room[:0] }

// Join returns a text and its end in one. like is how many of about its size will be made, this one included, for which memory is taken at once.
func (t *Texts) Join(text, end string, like int) string {
	need := len(text) + len(end)
	if need == 0 {
		return ""
	}
	if cap(t.room)-len(t.room) < need {
		t.room = make([]byte, 0, max(like, 1)*need) // the texts before keep theirs
	}
	from := len(t.room)
	t.room = append(append(t.room, text...), end...)
	return unsafe.String(&t.room[from], need) // nobody writes to these bytes before Forget
}
