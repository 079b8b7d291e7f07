package console

import (
	"context"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
)

const (
	factsShown    = 40 // number of facts on a page
	replacedShown = 20 // number of most recently superseded memories shown
)

type timelineData struct {
	Person   string
	People   []facts.Entity
	Class    string
	Slots    []slotRow
	Replaced []replacedRow // memories that were superseded
	Open     []contextmem.Conflict
	Merges   []contextmem.Merge
	Next     int64 // cursor of the next page of facts; 0: this is the last page
}

type slotRow struct {
	Name  string
	Facts []factRow
}

type factRow struct {
	facts.Fact
	By *facts.Fact // the fact that superseded this one
}

type replacedRow struct {
	ID, Text string
	Since    time.Time
	By       *contextmem.Supersession
}

func timelinePage(v *view) error {
	sub, err := v.scope(contextmem.ScopeQuery)
	if err != nil {
		return err
	}
	ctx := v.r.Context()
	class, err := v.class()
	if err != nil {
		return err
	}
	d := timelineData{Person: strings.TrimSpace(v.value("person")), Class: className(class)}
	people, err := sub.ListEntities(ctx, facts.EntityRequest{Class: class, Type: "PERSON", Limit: 50})
	if err != nil {
		return err
	}
	d.People = people.Entities
	if d.Person == "" && len(d.People) > 0 {
		most := slices.MaxFunc(d.People, func(a, b facts.Entity) int { return a.Mentions - b.Mentions })
		d.Person = most.Name
	}
	from, err := v.number("cursor", 0, math.MaxInt)
	if err != nil {
		return err
	}
	p, err := sub.Facts(ctx, facts.Request{Class: class, Subject: d.Person, History: true, Limit: factsShown, Cursor: int64(from)})
	if err != nil {
		return err
	}
	d.Next = p.Next
	d.Slots = bySlot(p.Facts)
	if class == contextmem.ClassMemory {
		if err := d.memories(v, sub); err != nil {
			return err
		}
	}
	merges, err := sub.Merges(ctx, facts.MergesRequest{Class: class, Limit: 50})
	if err != nil {
		return err
	}
	d.Merges = merges.Merges
	return v.show("timeline", d)
}

// bySlot groups facts by slot. Slots are sorted by name, and facts without a slot come last. In a group the newest fact comes first.
func bySlot(list []facts.Fact) (out []slotRow) {
	byID := map[string]*facts.Fact{}
	for i := range list {
		byID[list[i].ID] = &list[i]
	}
	slots := map[string][]factRow{}
	for _, f := range list {
		slots[f.Slot] = append(slots[f.Slot], factRow{Fact: f, By: byID[f.SupersededBy]})
	}
	for name, rows := range slots {
		slices.SortStableFunc(rows, func(a, b factRow) int { return when(b).Compare(when(a)) })
		out = append(out, slotRow{name, rows})
	}
	slices.SortFunc(out, func(a, b slotRow) int {
		if (a.Name == "") != (b.Name == "") {
			if a.Name == "" {
				return 1
			}
			return -1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

func when(f factRow) time.Time {
	if !f.Since.IsZero() {
		return f.Since
	}
	return f.Learnt
}

// memories returns the superseded memories among the sources of the facts and the memories about the person.
func (d *timelineData) memories(v *view, sub contextmem.Sub) error {
	ctx := v.r.Context()
	open, err := sub.Conflicts(ctx, facts.ConflictsRequest{Limit: 20})
	if err != nil {
		return err
	}
	d.Open = open.Conflicts
	query := d.Person
	if query == "" {
		query = "I"
	}
	res, err := sub.Recall(ctx, contextmem.Recall{Query: query, Class: contextmem.ClassMemory, Superseded: contextmem.SupersededMark, MaxResults: 100})
	if err != nil {
		return err
	}
	texts, ids := map[string]string{}, []string{}
	since := map[string]time.Time{}
	for _, c := range res.Chunks {
		if _, ok := texts[c.SourceID]; !ok {
			texts[c.SourceID], since[c.SourceID] = c.Text, c.ValidFrom
			ids = append(ids, c.SourceID)
		}
	}
	for _, s := range d.Slots {
		for _, f := range s.Facts {
			if _, ok := texts[f.SourceID]; !ok && f.SourceID != "" {
				texts[f.SourceID], since[f.SourceID] = f.Evidence, f.Learnt
				ids = append(ids, f.SourceID)
			}
		}
	}
	by, err := sub.Superseded(ctx, ids...)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if by[i] != nil {
			text, _ := cut(texts[id], 400)
			d.Replaced = append(d.Replaced, replacedRow{id, text, since[id], by[i]})
		}
	}
	slices.SortFunc(d.Replaced, func(a, b replacedRow) int { return b.By.Time.Compare(a.By.Time) })
	d.Replaced = d.Replaced[:min(len(d.Replaced), replacedShown)]
	return nil
}

// restore makes a superseded memory and its facts valid again.
func restore(v *view) error {
	sub, err := v.scope(contextmem.ScopeIngest)
	if err != nil {
		return err
	}
	if _, err := sub.Restore(v.r.Context(), v.value("id")); err != nil {
		return err
	}
	return v.back("t/"+url.PathEscape(v.Tenant)+"/timeline", url.Values{"sub": {v.Sub}, "person": {v.value("person")}}, "restored")
}

// restoreFact makes a fact valid again. retireFact undoes that.
func restoreFact(v *view) error { return changeFact(v, contextmem.Sub.RestoreFact, "restored") }

func retireFact(v *view) error { return changeFact(v, contextmem.Sub.RetireFact, "retired") }

func changeFact(v *view, change func(contextmem.Sub, context.Context, contextmem.Class, string) (*facts.Fact, error), done string) error {
	sub, err := v.scope(contextmem.ScopeIngest)
	if err != nil {
		return err
	}
	class, err := v.class()
	if err != nil {
		return err
	}
	if _, err := change(sub, v.r.Context(), class, v.value("id")); err != nil {
		return err
	}
	return v.back("t/"+url.PathEscape(v.Tenant)+"/timeline", url.Values{"sub": {v.Sub}, "class": {className(class)}, "person": {v.value("person")}}, done)
}

func undoMerge(v *view) error {
	sub, err := v.scope(contextmem.ScopeIngest)
	if err != nil {
		return err
	}
	class, err := v.class()
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(v.value("id"), 10, 64)
	if err != nil {
		return refuse(fault.KindInvalid, "id", "must be the number of a merge")
	}
	if err := sub.UndoMerge(v.r.Context(), class, id); err != nil {
		return err
	}
	return v.back("t/"+url.PathEscape(v.Tenant)+"/timeline", url.Values{"sub": {v.Sub}, "class": {className(class)}}, "unmerged")
}
