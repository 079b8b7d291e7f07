package console

import (
	"math"
	"strings"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
)

const (
	entitiesShown   = 60
	neighboursShown = 24
)

type graphData struct {
	Class    string
	Prefix   string
	Entities []facts.Entity
	Next     string
	Focus    string
	Facts    []facts.Fact // of the focus
	Nodes    []node
	More     bool
}

// node is a neighbour of the focus in the picture.
type node struct {
	Name   string
	X, Y   int // of its centre
	LX, LY int // of the label of its line
	Label  string
	Anchor string // text anchor of the name: start, middle or end
	Fact   int    // index in Facts of the first fact that connects the node to the focus
}

func graphPage(v *view) error {
	sub, err := v.scope(contextmem.ScopeQuery)
	if err != nil {
		return err
	}
	class, err := v.class()
	if err != nil {
		return err
	}
	ctx := v.r.Context()
	d := graphData{Class: className(class), Prefix: v.value("prefix"), Focus: v.value("entity")}
	list, err := sub.ListEntities(ctx, facts.EntityRequest{Class: class, Prefix: d.Prefix, Limit: entitiesShown, Cursor: v.value("cursor")})
	if err != nil {
		return err
	}
	d.Entities, d.Next = list.Entities, list.Next
	if d.Focus == "" && len(d.Entities) > 0 {
		best := d.Entities[0]
		for _, e := range d.Entities {
			if e.Mentions > best.Mentions {
				best = e
			}
		}
		d.Focus = best.Name
	}
	if d.Focus != "" {
		p, err := sub.Facts(ctx, facts.Request{Class: class, Subject: d.Focus, History: true, Limit: 100})
		if err != nil {
			return err
		}
		d.Facts, d.More = p.Facts, p.Next != 0
		d.place()
	}
	return v.show("graph", d)
}

// Size of the picture.
const (
	pictureWidth, pictureHeight = 760, 460
	radiusX, radiusY            = 250, 170
)

// place arranges the neighbours on an ellipse around the focus.
func (d *graphData) place() {
	at := map[string]int{}
	for i, f := range d.Facts {
		other := f.Object
		if strings.EqualFold(other, d.Focus) {
			other = f.Subject
		}
		if other == "" || strings.EqualFold(other, d.Focus) {
			continue
		}
		key := strings.ToLower(other)
		if _, ok := at[key]; ok || len(d.Nodes) == neighboursShown {
			continue
		}
		at[key] = len(d.Nodes)
		d.Nodes = append(d.Nodes, node{Name: other, Label: strings.ReplaceAll(f.Predicate, "_", " "), Fact: i})
	}
	for i := range d.Nodes {
		a := 2*math.Pi*float64(i)/float64(len(d.Nodes)) - math.Pi/2
		n := &d.Nodes[i]
		n.X, n.Y = pictureWidth/2+int(radiusX*math.Cos(a)), pictureHeight/2+int(radiusY*math.Sin(a))
		n.LX, n.LY = pictureWidth/2+int(.58*radiusX*math.Cos(a)), pictureHeight/2+int(.58*radiusY*math.Sin(a))
		switch c := math.Cos(a); {
		case c > .25:
			n.Anchor = "start"
		case c < -.25:
			n.Anchor = "end"
		default:
			n.Anchor = "middle"
		}
	}
}
