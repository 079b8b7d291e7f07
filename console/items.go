package console

import (
	"errors"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
)

const (
	tenantsPerPage = 15
	itemsPerPage   = 25
	subsShown      = 50
	shownText      = 8000 // maximal number of characters of a text on a page
)

type overviewData struct {
	Tenants  []tenantRow
	Next     string // id after which the next page begins
	Activity *contextmem.Activity
	States   map[contextmem.Status]int // item counts over the tenants of the page
}

type tenantRow struct {
	contextmem.TenantInfo
	Stats *contextmem.TenantStats // nil: the tenant cannot be opened
}

// Items returns the number of items in the tenant.
func (r tenantRow) Items() int {
	if r.Stats == nil {
		return 0
	}
	return r.Stats.Knowledge.Sources + r.Stats.Memory.Sources + r.Stats.Raw.Sources
}

func overview(v *view) error {
	if err := v.need(contextmem.ScopeQuery); err != nil {
		return err
	}
	d := overviewData{States: map[contextmem.Status]int{}}
	infos, err := v.tenants(v.value("after"), tenantsPerPage+1)
	if err != nil {
		return err
	}
	if len(infos) > tenantsPerPage {
		infos = infos[:tenantsPerPage]
		d.Next = infos[tenantsPerPage-1].ID
	}
	for _, i := range infos {
		row := tenantRow{TenantInfo: i}
		if i.Ready() {
			st, err := v.org().Tenant(i.ID).Stats(v.r.Context())
			if err == nil {
				row.Stats = &st
				for s, n := range st.States {
					d.States[s] += n
				}
			} else if v.r.Context().Err() != nil {
				return err
			}
		}
		d.Tenants = append(d.Tenants, row)
	}
	if v.Admin {
		a, err := v.c.svc.Activity(v.r.Context())
		if err != nil {
			return err
		}
		d.Activity = &a
	}
	return v.show("overview", d)
}

// tenants lists the tenants to which the key has access, sorted by id.
func (v *view) tenants(after string, limit int) (out []contextmem.TenantInfo, err error) {
	if len(v.Key.Tenants) == 0 {
		return v.org().ListTenants(v.r.Context(), after, limit)
	}
	ids := slices.Clone(v.Key.Tenants)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if id <= after || len(out) == limit {
			continue
		}
		i, err := v.org().Tenant(id).Info(v.r.Context())
		if errors.Is(err, contextmem.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	return out, nil
}

type tenantData struct {
	Info     contextmem.TenantInfo
	Stats    contextmem.TenantStats
	Subs     []contextmem.SubStats
	MoreSubs int
	Class    string
	Status   string
	Query    string
	Items    []itemRow
	Total    int
	From     int    // approximate position of the first item; items may have been added or deleted since
	Next     string // cursor of the next page; empty: this is the last page
	Previous string // cursor of the previous page
}

type itemRow struct {
	contextmem.SourceInfo
	Error    string // error code and reason
	Attempts int
}

// Before returns the position of the first item of the previous page.
func (d tenantData) Before() int { return max(1, d.From-itemsPerPage) }

// statusFilters are the status filters of the item list.
var statusFilters = map[string][]contextmem.Status{"": nil, "completed": {contextmem.StatusCompleted}, "errored": {contextmem.StatusErrored},
	"waiting": {contextmem.StatusQueued, contextmem.StatusProcessing, contextmem.StatusGraphCreation}}

// Filters returns the names of statusFilters.
func (tenantData) Filters() []string { return []string{"", "completed", "waiting", "errored"} }

func tenantPage(v *view) error {
	sub, err := v.scope(contextmem.ScopeQuery)
	if err != nil {
		return err
	}
	ctx := v.r.Context()
	d := tenantData{Status: v.value("status"), Query: strings.TrimSpace(v.value("q"))}
	states, ok := statusFilters[d.Status]
	if !ok {
		return refuse(fault.KindInvalid, "status", "must be completed, errored or waiting")
	}
	if d.From, err = v.number("n", 1, math.MaxInt32); err != nil {
		return err
	}
	class, err := v.class()
	if err != nil {
		return err
	}
	if d.Info, err = sub.Tenant().Info(ctx); err != nil {
		return err
	}
	if !d.Info.Ready() {
		return v.show("tenant", d)
	}
	if d.Stats, err = sub.Tenant().Stats(ctx); err != nil {
		return err
	}
	if v.value("class") == "" && !holdsMemories(d.Stats, v.Sub, v.Tenant) {
		class = contextmem.ClassKnowledge
	}
	d.Class = className(class)
	d.Subs = d.Stats.Subs
	if len(d.Subs) > subsShown {
		d.MoreSubs, d.Subs = len(d.Subs)-subsShown, d.Subs[:subsShown]
	}
	if d.Query != "" {
		err = d.search(v, sub, class, states)
	} else {
		err = d.list(v, sub, class, states)
	}
	if err != nil {
		return err
	}
	return v.show("tenant", d)
}

// holdsMemories reports whether a sub-tenant contains memories or is empty.
func holdsMemories(st contextmem.TenantStats, sub, tenant string) bool {
	for _, s := range st.Subs {
		if s.Name == sub || sub == "" && s.Name == tenant {
			return s.Memory > 0 || s.Knowledge == 0
		}
	}
	return true
}

func (d *tenantData) list(v *view, sub contextmem.Sub, class contextmem.Class, states []contextmem.Status) error {
	p, err := sub.List(v.r.Context(), contextmem.ListRequest{Class: class, Statuses: states, PageSize: itemsPerPage, After: v.value("after"), Before: v.value("before")})
	if err != nil {
		return err
	}
	d.Total, d.Next, d.Previous = p.Total, p.Next, p.Previous
	if d.From = max(1, min(d.From, p.Total-len(p.Sources)+1)); d.Previous == "" {
		d.From = 1
	}
	return d.rows(v, sub, p.Sources)
}

// search finds items by the words of their text and by id.
func (d *tenantData) search(v *view, sub contextmem.Sub, class contextmem.Class, states []contextmem.Status) error {
	ctx := v.r.Context()
	var found []contextmem.SourceInfo
	if len(d.Query) <= 1000 {
		p, err := sub.List(ctx, contextmem.ListRequest{Class: class, Statuses: states, IDs: []string{d.Query}})
		if err != nil {
			return err
		}
		found = p.Sources
	}
	res, err := sub.BooleanRecall(ctx, contextmem.BooleanRecallRequest{Query: d.Query, Class: class, MaxResults: 2 * itemsPerPage, Operator: contextmem.OperatorAnd})
	if err != nil {
		return err
	}
	for _, s := range res.Sources {
		if len(found) < itemsPerPage && (states == nil || slices.Contains(states, s.Status)) && !slices.ContainsFunc(found, func(x contextmem.SourceInfo) bool { return x.ID == s.ID }) {
			found = append(found, s)
		}
	}
	d.Total, d.From = len(found), 1
	return d.rows(v, sub, found)
}

// rows adds the reasons for failure to items.
func (d *tenantData) rows(v *view, sub contextmem.Sub, list []contextmem.SourceInfo) error {
	var failed []string
	for _, s := range list {
		d.Items = append(d.Items, itemRow{SourceInfo: s})
		if s.Status != contextmem.StatusCompleted {
			failed = append(failed, s.ID)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	states, err := sub.Status(v.r.Context(), failed...)
	if err != nil {
		return err
	}
	for i := range d.Items {
		for _, s := range states {
			if s.ID == d.Items[i].ID && s.Class == d.Items[i].Class {
				d.Items[i].Error, d.Items[i].Attempts = strings.TrimSpace(s.ErrorCode+" "+s.ErrorMessage), s.Attempts
			}
		}
	}
	return nil
}

type itemData struct {
	*content.Inspection
	Text       string
	Cut        bool // the text was truncated
	Binary     bool
	Statements []string
	Relations  []contextmem.RelationGroup
	Entities   []contextmem.Entity
	More       bool // more relations exist
	Replaced   *contextmem.Supersession
	From, Next int // chunk numbers
	Previous   int
}

const (
	chunksPerPage = 10
	relationsMost = 40
)

func itemPage(v *view) error {
	sub, err := v.scope(contextmem.ScopeQuery)
	if err != nil {
		return err
	}
	ctx, id := v.r.Context(), v.value("id")
	class, err := v.class()
	if err != nil {
		return err
	}
	d := itemData{}
	if d.From, err = v.number("from", 0, 10_000_000); err != nil {
		return err
	}
	if d.Inspection, err = sub.Inspect(ctx, content.InspectRequest{ID: id, Class: class, From: d.From, Limit: chunksPerPage}); err != nil {
		return err
	}
	d.Previous = max(0, d.From-chunksPerPage)
	if d.Inspection.More {
		d.Next = d.From + chunksPerPage
	}
	f, err := sub.Fetch(ctx, contextmem.FetchRequest{ID: id, Class: class, ParsedText: true})
	if err != nil {
		return err
	}
	d.Text, d.Cut = cut(f.Text, shownText)
	d.Binary = f.Binary && f.Text == ""
	if d.Title == "" {
		d.Title, _ = cut(strings.TrimSpace(firstLine(f.Text)), 80)
	}
	for line := range strings.SplitSeq(f.Inferred, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			d.Statements = append(d.Statements, line)
		}
	}
	rel, err := sub.GraphRelations(ctx, contextmem.GraphRelationsRequest{Class: class, SourceID: id, Limit: relationsMost})
	if err != nil && !errors.Is(err, contextmem.ErrNotFound) {
		return err
	}
	if rel != nil {
		d.Relations, d.More = rel.Groups, rel.Truncated
		d.Entities = entitiesOf(rel.Groups)
	}
	if class == contextmem.ClassMemory {
		by, err := sub.Superseded(ctx, id)
		if err != nil {
			return err
		}
		d.Replaced = by[0]
	}
	return v.show("item", d)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// entitiesOf returns the ends of relations without repetitions, sorted by name.
func entitiesOf(groups []contextmem.RelationGroup) (out []contextmem.Entity) {
	seen := map[string]bool{}
	for _, g := range groups {
		for _, e := range []contextmem.Entity{g.Source, g.Target} {
			if e.ID != "" && e.Type != "" && !seen[e.ID] {
				seen[e.ID] = true
				out = append(out, e)
			}
		}
	}
	slices.SortFunc(out, func(a, b contextmem.Entity) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// cut shortens a text to n characters and reports whether it did.
func cut(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	i := 0
	for at := range s {
		if i == n {
			return s[:at], true
		}
		i++
	}
	return s, false
}

func retry(v *view) error {
	sub, err := v.scope(contextmem.ScopeIngest)
	if err != nil {
		return err
	}
	class, err := v.class()
	if err != nil {
		return err
	}
	if err := sub.Retry(v.r.Context(), class, v.value("id")); err != nil {
		return err
	}
	return v.back("t/"+url.PathEscape(v.Tenant), url.Values{"sub": {v.Sub}, "class": {className(class)}, "status": {v.value("status")}}, "retried")
}

// ago formats the time elapsed since a time for display.
func ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	switch d := time.Since(t); {
	case d < 0:
		return t.UTC().Format("2006-01-02")
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min ago"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h ago"
	}
	return t.UTC().Format("2006-01-02")
}
