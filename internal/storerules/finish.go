package storerules

import (
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

// DamagedCode is the error code of a source whose content is damaged. The API leaves it open; E6xxx is the range of storage errors.
const DamagedCode = "E6002"

// Condemn sets the final state of a source whose stored content is damaged.
func (t *Tx) Condemn(v *Head) error {
	return t.end(v, backend.Errored, DamagedCode, "the stored content is damaged", true)
}

// CheckFinished checks the result of extraction for a version with a number of chunks.
func CheckFinished(f *backend.Finished, chunks int64) error {
	if !f.State.Terminal() {
		return fmt.Errorf("state %d is not final", f.State)
	}
	for i := range f.Mentions {
		if m := &f.Mentions[i]; m.Chunk < 0 || int64(m.Chunk) >= chunks {
			return fmt.Errorf("mention in chunk %d of %d", m.Chunk, chunks)
		}
	}
	for i := range f.Relations {
		if r := &f.Relations[i]; r.Chunk < 0 || r.Chunk >= chunks {
			return fmt.Errorf("relation in chunk %d of %d", r.Chunk, chunks)
		}
	}
	return nil
}

// Finish stores the result of extraction for a version, which replaces an earlier one, and the final state.
func (t *Tx) Finish(v *Head, f *backend.Finished) error {
	if err := CheckFinished(f, v.Chunks); err != nil {
		return err
	}
	had := v.SeqGraph != 0
	t.Mentioned = nil
	if err := t.clearGraph(v); err != nil {
		return err
	}
	if err := t.addMentions(v, f.Mentions); err != nil {
		return err
	}
	for i := range f.Relations {
		if err := t.addRelation(v, &f.Relations[i]); err != nil {
			return err
		}
	}
	if err := t.addStated(v, f.Aliases, f.Mentions); err != nil {
		return err
	}
	v.Graph = len(f.Mentions)+len(f.Relations) > 0
	if had || len(f.Mentions) > 0 {
		if err := t.Put(v.Num, backend.PutGraph, &v.SeqGraph); err != nil {
			return err
		}
	}
	if err := t.Rows.StoreBlobs(v.Num, f.Blobs, true); err != nil {
		return err
	}
	return t.end(v, f.State, f.ErrorCode, f.ErrorMessage, f.Event)
}

// end sets the final state of a version. If event is set, it also adds an event to the outbox.
func (t *Tx) end(v *Head, state backend.State, code, message string, event bool) error {
	t.Move(v, state)
	err := t.Rows.EndSource(v, state, code, message)
	if err != nil || !event {
		return err
	}
	return t.AddEvent(v, state, code, message)
}

// AddEvent adds the final state of a version to the outbox.
func (t *Tx) AddEvent(v *Head, state backend.State, code, message string) error {
	p, err := t.Rows.PartName(v.Part)
	if err != nil {
		return err
	}
	t.Numbers.Event++
	return t.Rows.AddEvent(t.Numbers.Event, p, v, state, code, message)
}
