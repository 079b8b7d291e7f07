package console

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

//go:embed templates/*.html static/* texts.en.json
var files embed.FS

// pages holds the templates by name.
type pages map[string]*template.Template

// view is a request for a page together with the data of the page.
type view struct {
	c *Console
	w http.ResponseWriter
	r *http.Request
	s *session

	Base   string // prefix of all links
	Page   string
	Key    contextmem.Key
	Signed bool
	Admin  bool
	CSRF   string
	Tenant string // tenant of the page; empty: none
	Sub    string
	Notice string // key of the text that confirms an action
	Shown  string // text to show once
	Data   any
}

// base returns the path of the console as the browser sees it, including any prefix that outer handlers have removed.
func base(r *http.Request) string {
	full := r.RequestURI
	if i := strings.IndexAny(full, "?#"); i >= 0 {
		full = full[:i]
	}
	if i := strings.Index(full, Prefix); i >= 0 && strings.HasPrefix(full, "/") && !strings.HasPrefix(full, "//") {
		return full[:i] + Prefix
	}
	return Prefix
}

// bare returns a view for a user who is not signed in.
func (c *Console) bare(r *http.Request, page string, data any) *view {
	return &view{c: c, r: r, Base: base(r), Page: page, Data: data}
}

// notices are the texts that a redirect may ask a page to show.
var notices = map[string]bool{"retried": true, "restored": true, "retired": true, "unmerged": true, "synced": true, "paused": true, "resumed": true, "created": true, "deleted": true, "saved": true,
	"tested": true, "testfailed": true, "resent": true, "revoked": true, "expires": true, "started": true, "added": true}

func (c *Console) view(w http.ResponseWriter, r *http.Request, s *session, key contextmem.Key) *view {
	v := &view{c: c, w: w, r: r, s: s, Base: base(r), Key: key, Signed: true, Admin: admin(key), CSRF: s.csrf}
	if n := r.URL.Query().Get("done"); notices[n] {
		v.Notice = n
	}
	return v
}

// show renders and writes a page.
func (v *view) show(page string, data any) error {
	v.Page, v.Data = page, data
	v.c.write(v.w, http.StatusOK, page, v)
	return nil
}

// write renders a page into memory first, so that a failure never sends part of a page.
func (c *Console) write(w http.ResponseWriter, status int, page string, v *view) {
	var b bytes.Buffer
	all, err := c.pages()
	if err == nil {
		err = all[page].Execute(&b, v)
	}
	if err != nil {
		c.o.Logger.Error("a page could not be written", "page", page, "err", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// to redirects the browser to a page of the console.
func (v *view) to(page string) { http.Redirect(v.w, v.r, v.Base+page, http.StatusSeeOther) }

// back redirects to a page that shows a text confirming an action.
func (v *view) back(page string, q url.Values, done string) error {
	if q == nil {
		q = url.Values{}
	}
	q.Set("done", done)
	v.to(page + "?" + q.Encode())
	return nil
}

func refuse(kind fault.Kind, field, format string, args ...any) error {
	return &contextmem.Error{Kind: kind, Field: field, Err: fmt.Errorf(format, args...)}
}

// need returns an error unless the key has a scope.
func (v *view) need(s contextmem.Scope) error {
	if !v.Key.Allows(s) {
		return refuse(fault.KindForbidden, "", "the key lacks the scope %q", s)
	}
	return nil
}

// whole returns an error unless the key may manage the whole organisation.
func (v *view) whole() error {
	if !v.Key.AllowsOrganisation() {
		return refuse(fault.KindForbidden, "", "the key is restricted to tenants, and this is the organisation's")
	}
	return v.need(contextmem.ScopeManage)
}

func (v *view) org() contextmem.Organisation { return v.c.svc.Org(v.Key.Org) }

// value returns a value of the form, or of the query string for a page.
func (v *view) value(name string) string {
	if v.r.Method == http.MethodPost {
		return v.r.PostForm.Get(name)
	}
	return v.r.URL.Query().Get(name)
}

// number reads a number between lo and hi. A missing value is lo; other values are errors.
func (v *view) number(name string, lo, hi int) (int, error) {
	s := v.value(name)
	if s == "" {
		return lo, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < lo || n > hi {
		return 0, refuse(fault.KindInvalid, name, "must be a number between %d and %d", lo, hi)
	}
	return n, nil
}

// day reads a date with or without a time. A missing value is the zero time.
func (v *view) day(name string) (time.Time, error) {
	s := v.value(name)
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02", "2006-01-02T15:04", time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, refuse(fault.KindInvalid, name, "must be a date such as 2026-05-31")
}

// scope returns the sub-tenant of the page if the key has access to its tenant.
func (v *view) scope(s contextmem.Scope) (contextmem.Sub, error) {
	id := v.r.PathValue("tenant")
	v.Tenant = id
	if !v.Key.AllowsTenant(id) {
		v.Tenant = ""
		return contextmem.Sub{}, refuse(fault.KindForbidden, "", "the key is restricted to other tenants")
	}
	if err := v.need(s); err != nil {
		return contextmem.Sub{}, err
	}
	v.Sub = v.value("sub")
	return v.org().Tenant(id).Sub(v.Sub), nil
}

// class reads the class of the page. The default is memories.
func (v *view) class() (contextmem.Class, error) {
	switch v.value("class") {
	case "", "memory":
		return contextmem.ClassMemory, nil
	case "knowledge":
		return contextmem.ClassKnowledge, nil
	}
	return 0, refuse(fault.KindInvalid, "class", "must be memory or knowledge")
}

func className(c contextmem.Class) string {
	if c == contextmem.ClassMemory {
		return "memory"
	}
	return "knowledge"
}

// Content types of the static files.
var types = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

func (c *Console) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	b, err := files.ReadFile("static/" + name)
	if err != nil || types[path.Ext(name)] == "" {
		c.fail(w, r, nil, refuse(fault.KindNotFound, "", "no such page"))
		return
	}
	w.Header().Set("Content-Type", types[path.Ext(name)])
	w.Header().Set("Cache-Control", "private, max-age=300")
	_, _ = w.Write(b)
}

// loadPages parses the templates and the texts.
func loadPages() (pages, error) {
	b, err := files.ReadFile("texts.en.json")
	if err != nil {
		return nil, err
	}
	var texts map[string]string
	if err := json.Unmarshal(b, &texts); err != nil {
		return nil, fmt.Errorf("console: texts: %w", err)
	}
	entries, err := files.ReadDir("templates")
	if err != nil {
		return nil, err
	}
	out := pages{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".html")
		if name == "layout" {
			continue
		}
		t, err := template.New("layout.html").Funcs(funcs(texts)).ParseFS(files, "templates/layout.html", "templates/"+e.Name())
		if err != nil {
			return nil, err
		}
		out[name] = t
	}
	if len(out) == 0 {
		return nil, errors.New("console: no pages")
	}
	return out, nil
}
