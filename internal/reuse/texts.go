package reuse

import "unsafe"

// Texts builds strings in one shared buffer. The zero value is ready to use.
type Texts struct{ room []byte }

// Forget makes the buffer available for new strings. The strings built so far must not be used afterwards.
func (t *Texts) Forget() { t.room = t.room[:0] }

// Join returns text and end concatenated. like is the expected number of strings of about this size, including this one; a new
// buffer has room for all of them.
func (t *Texts) Join(text, end string, like int) string {
	need := len(text) + len(end)
	if need == 0 {
		return ""
	}
	if cap(t.room)-len(t.room) < need {
		t.room = make([]byte, 0, max(like, 1)*need) // earlier strings keep the old buffer
	}
	from := len(t.room)
	t.room = append(append(t.room, text...), end...)
	return unsafe.String(&t.room[from], need) // these bytes are not written again before Forget
}
