package github_test

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const token = "ghp_secretsecret"

type issue struct {
	number   int
	title    string
	body     string
	state    string
	updated  time.Time
	pull     bool
	merged   bool
	comments []string
	reviews  []string
}

// fake implements the parts of the REST API that the provider uses, with its paging and refusals.
type fake struct {
	*httptest.Server

	mu      sync.Mutex
	issues  map[int]*issue
	commits map[string]map[string]string // commit: path: content
	head    string
	log     []string
	refuse  func(path string) (status int, header map[string]string, body string)
	trunc   bool // recursive trees are cut
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{issues: map[int]*issue{}, commits: map[string]map[string]string{}}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) put(is issue) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.issues[is.number] = &is
}

func sha(s string) string {
	h := sha1.Sum([]byte(s))
	return hex.EncodeToString(h[:])
}

func (f *fake) commit(name string, files map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head = sha(name)
	f.commits[f.head] = files
}

// requests returns the requested paths since the last call.
func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.log
	f.log = nil
	return l
}

func (f *fake) setRefuse(g func(path string) (int, map[string]string, string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = g
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, r.URL.Path)
	w.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
	if r.Header.Get("Authorization") != "Bearer "+token {
		http.Error(w, `{"message":"Bad credentials"}`, http.StatusUnauthorized)
		return
	}
	if f.refuse != nil {
		if code, header, body := f.refuse(r.URL.Path); code != 0 {
			for k, v := range header {
				w.Header().Set(k, v)
			}
			w.WriteHeader(code)
			fmt.Fprint(w, body)
			return
		}
	}
	p := strings.TrimPrefix(r.URL.Path, "/repos/acme/docs")
	parts := strings.Split(strings.Trim(p, "/"), "/")
	switch {
	case r.URL.Path == "/rate_limit":
		fmt.Fprint(w, `{}`)
	case r.URL.Path == "/user/repos":
		var all []any
		for i := range 5 {
			all = append(all, map[string]any{"full_name": fmt.Sprintf("acme/r%d", i), "private": i%2 == 0})
		}
		page(w, r, all)
	case p == "/issues":
		f.list(w, r)
	case len(parts) == 3 && parts[2] == "comments":
		n, _ := strconv.Atoi(parts[1])
		is := f.issues[n]
		if is == nil {
			http.NotFound(w, r)
			return
		}
		texts := is.comments
		if parts[0] == "pulls" {
			texts = is.reviews
		}
		var all []any
		for i, c := range texts {
			all = append(all, map[string]any{"id": n*1000 + i, "body": c, "user": map[string]any{"login": "bob"}, "created_at": "2026-01-01T00:00:00Z"})
		}
		page(w, r, all)
	case p == "/commits/HEAD":
		if f.head == "" {
			http.Error(w, `{"message":"Git Repository is empty."}`, http.StatusConflict)
			return
		}
		w.Header().Set("ETag", `"`+f.head+`"`)
		if r.Header.Get("If-None-Match") == `"`+f.head+`"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, f.head)
	case strings.HasPrefix(p, "/git/trees/"):
		f.tree(w, r, parts[2])
	case strings.HasPrefix(p, "/git/blobs/"):
		for _, files := range f.commits {
			for _, c := range files {
				if sha(c) == parts[2] {
					fmt.Fprint(w, c)
					return
				}
			}
		}
		http.NotFound(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	var all []*issue
	since, _ := time.Parse(time.RFC3339, q.Get("since"))
	for _, is := range f.issues {
		if !is.updated.Truncate(time.Second).Before(since) {
			all = append(all, is)
		}
	}
	sort.Slice(all, func(i, j int) bool {
		if !all[i].updated.Equal(all[j].updated) {
			return all[i].updated.Before(all[j].updated)
		}
		return all[i].number < all[j].number
	})
	var out []any
	for _, is := range all {
		m := map[string]any{
			"number": is.number, "title": is.title, "body": is.body, "state": is.state, "comments": len(is.comments), "assignee": nil,
			"html_url": fmt.Sprintf("https://github.example/acme/docs/issues/%d", is.number), "user": map[string]any{"login": "alice"},
			"created_at": "2026-01-01T00:00:00Z", "updated_at": is.updated.UTC().Format(time.RFC3339), "labels": []any{map[string]any{"name": "bug"}},
		}
		if is.body == "" {
			m["body"] = nil
		}
		if is.pull {
			pr := map[string]any{"merged_at": nil}
			if is.merged {
				pr["merged_at"] = "2026-02-01T00:00:00Z"
			}
			m["pull_request"] = pr
		}
		out = append(out, m)
	}
	page(w, r, out)
}

func (f *fake) tree(w http.ResponseWriter, r *http.Request, id string) {
	files, prefix := f.commits[id], ""
	if files == nil { // a directory: its id is made from commit and prefix
		for _, c := range f.commits {
			for name := range c {
				for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
					if sha(dir) == id {
						files, prefix = c, dir+"/"
					}
				}
			}
		}
	}
	if files == nil {
		http.NotFound(w, r)
		return
	}
	recursive := r.URL.Query().Get("recursive") != ""
	var out []any
	var dirs []string
	for name, c := range files {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if dir, _, deep := strings.Cut(rest, "/"); deep && !recursive {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
				out = append(out, map[string]any{"path": dir, "mode": "040000", "type": "tree", "sha": sha(prefix + dir)})
			}
			continue
		}
		out = append(out, map[string]any{"path": rest, "mode": "100644", "type": "blob", "sha": sha(c), "size": len(c)})
	}
	cut := recursive && f.trunc
	if cut {
		out = nil
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"sha": id, "tree": out, "truncated": cut})
}

// page writes a slice of all with a Link header.
func page(w http.ResponseWriter, r *http.Request, all []any) {
	n, _ := strconv.Atoi(r.URL.Query().Get("page"))
	size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	n, size = max(n, 1), max(size, 1)
	from, to := min((n-1)*size, len(all)), min(n*size, len(all))
	if to < len(all) {
		w.Header().Set("Link", fmt.Sprintf(`<https://elsewhere.example/?page=%d>; rel="next", <https://elsewhere.example/?page=9>; rel="last"`, n+1))
	}
	_ = json.NewEncoder(w).Encode(append([]any{}, all[from:to]...))
}
