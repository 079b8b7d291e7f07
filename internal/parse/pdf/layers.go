package pdf

// layers records which optional content groups are off when the document opens (ISO 32000-1, 8.11).
type layers struct {
	d   *document
	off map[ref]bool
}

func (d *document) newLayers(catalog dict) *layers {
	ly := &layers{d: d, off: map[ref]bool{}}
	props := d.dict(catalog["OCProperties"])
	config := d.dict(props["D"])
	if d.name(config["BaseState"]) == "OFF" {
		for _, o := range d.array(props["OCGs"]) {
			if r, ok := o.(ref); ok {
				ly.off[r] = true
			}
		}
	}
	for _, o := range d.array(config["ON"]) {
		if r, ok := o.(ref); ok {
			delete(ly.off, r)
		}
	}
	for _, o := range d.array(config["OFF"]) {
		if r, ok := o.(ref); ok {
			ly.off[r] = true
		}
	}
	return ly
}

// hides reports whether content that belongs to o, a group or a membership dictionary, is not shown. Membership by expression, and policies
// other than the default (shown when any group is on), count as shown.
func (ly *layers) hides(o any) bool {
	if len(ly.off) == 0 || o == nil {
		return false
	}
	if r, ok := o.(ref); ok && ly.off[r] {
		return true
	}
	member := ly.d.dict(o)
	if p := ly.d.name(member["P"]); p != "" && p != "AnyOn" || member["VE"] != nil {
		return false
	}
	if r, ok := member["OCGs"].(ref); ok && ly.off[r] {
		return true
	}
	groups := ly.d.array(member["OCGs"])
	for _, g := range groups {
		if r, ok := g.(ref); !ok || !ly.off[r] {
			return false
		}
	}
	return len(groups) > 0
}
