package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/internal/webapi"
	"github.com/contextmem/contextmem/content"
)

const (
	maxTreeDepth    = 32
	maxTreeRequests = 2000   // directories read one by one if a tree is too large for one answer
	maxTreeFiles    = 200000 // Markdown files of one tree
	maxPathBytes    = 800
	markdownType    = "text/markdown"
)

// entry is a file or directory of a tree.
type entry struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	Type string `json:"type"`
	SHA  string `json:"sha"`
	Size int64  `json:"size"`
}

// files reads the files that differ between the last completed commit and the head.
func (s *run) files(ctx context.Context) error {
	st := &s.state.Files
	fresh := st.Head == ""
	if fresh {
		a, err := s.Do(ctx, webapi.Request{Path: s.path + "/commits/HEAD", Accept: "application/vnd.github.sha", ETag: st.ETag, Limit: 1024})
		if webapi.HasStatus(err, http.StatusConflict) { // the repository is empty
			return nil
		}
		if err != nil {
			return err
		}
		head := strings.TrimSpace(string(a.Body))
		if a.Same || head == st.Base {
			return nil
		}
		if !isSHA(head) {
			return errors.New("github: the head is not a commit")
		}
		st.Head, st.After, st.ETag = head, "", a.Header.Get("ETag")
	}
	next, err := s.tree(ctx, st.Head)
	if !fresh && webapi.HasStatus(err, http.StatusNotFound, http.StatusUnprocessableEntity) {
		// The head was rewritten during the sync. Use the new head next time.
		st.Head, st.After, st.ETag = "", "", ""
		return nil
	}
	if err != nil {
		return err
	}
	old := map[string]entry{}
	if st.Base != "" {
		// A base commit that is no longer in the history counts as none, so all files are read again.
		if old, err = s.tree(ctx, st.Base); err != nil && !webapi.HasStatus(err, http.StatusNotFound, http.StatusUnprocessableEntity) {
			return err
		}
	}
	for _, name := range changed(old, next) {
		if name <= st.After {
			continue
		}
		if s.room() <= 0 {
			s.page.More = true
			return nil
		}
		if err := s.file(ctx, name, old, next); err != nil {
			return err
		}
		st.After = name
	}
	st.Base, st.Head, st.After = st.Head, "", ""
	return nil
}

// changed returns the paths that differ, in order.
func changed(old, next map[string]entry) []string {
	var names []string
	for name, e := range next {
		if o, ok := old[name]; !ok || o.SHA != e.SHA {
			names = append(names, name)
		}
	}
	for name := range old {
		if _, ok := next[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// file reads one file or reports it as deleted. A file that grew over the limit or is no longer read counts as deleted.
func (s *run) file(ctx context.Context, name string, old, next map[string]entry) error {
	id := s.id + ":" + name
	e, ok := next[name]
	_, had := old[name]
	var a *webapi.Answer
	if ok && e.Size <= s.most && (s.reads == nil || s.reads(name, markdownType)) {
		var err error
		a, err = s.Do(ctx, webapi.Request{Path: s.path + "/git/blobs/" + e.SHA, Accept: "application/vnd.github.raw+json", Limit: s.most})
		if err != nil {
			return err
		}
	}
	if a == nil || a.TooLong {
		if had {
			s.page.Deleted = append(s.page.Deleted, id)
		}
		return nil
	}
	s.page.Objects = append(s.page.Objects, connector.Object{ExternalID: id, File: &content.File{
		Name: path.Base(name), ContentType: markdownType, Data: a.Body, Kind: TypeFile, URL: s.web() + "/blob/HEAD/" + escapePath(name),
		Metadata:   s.container(TypeFile),
		Additional: map[string]any{"path": webapi.Clip(name, 600), "sha": e.SHA},
	}})
	return nil
}

// tree returns the Markdown files of a commit by path.
func (s *run) tree(ctx context.Context, commit string) (map[string]entry, error) {
	if !isSHA(commit) {
		return nil, errors.New("github: the cursor is not valid")
	}
	var t struct {
		Tree      []entry `json:"tree"`
		Truncated bool    `json:"truncated"`
	}
	if _, err := s.JSON(ctx, webapi.Request{Path: s.path + "/git/trees/" + commit, Query: url.Values{"recursive": {"1"}}}, &t); err != nil {
		return nil, err
	}
	out := map[string]entry{}
	if t.Truncated {
		budget := maxTreeRequests
		return out, s.walk(ctx, commit, "", 0, &budget, out)
	}
	for _, e := range t.Tree {
		if err := keep(out, e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// walk reads a tree directory by directory.
func (s *run) walk(ctx context.Context, sha, prefix string, depth int, budget *int, out map[string]entry) error {
	if *budget--; *budget < 0 || depth > maxTreeDepth {
		return errors.New("github: the repository has too many or too deep directories")
	}
	var t struct {
		Tree []entry `json:"tree"`
	}
	if _, err := s.JSON(ctx, webapi.Request{Path: s.path + "/git/trees/" + sha}, &t); err != nil {
		return err
	}
	for _, e := range t.Tree {
		e.Path = prefix + e.Path
		if e.Type == "tree" && isSHA(e.SHA) {
			if err := s.walk(ctx, e.SHA, e.Path+"/", depth+1, budget, out); err != nil {
				return err
			}
			continue
		}
		if err := keep(out, e); err != nil {
			return err
		}
	}
	return nil
}

// keep adds a Markdown file unless it is a symbolic link.
func keep(out map[string]entry, e entry) error {
	if e.Type != "blob" || e.Mode == "120000" || !isMarkdown(e.Path) || len(e.Path) > maxPathBytes || !isSHA(e.SHA) {
		return nil
	}
	if len(out) >= maxTreeFiles {
		return errors.New("github: the repository has more than " + strconv.Itoa(maxTreeFiles) + " Markdown files")
	}
	out[e.Path] = e
	return nil
}

func isMarkdown(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdown", ".mkd":
		return true
	}
	return false
}

// isSHA reports whether s is a Git object name, SHA-1 or SHA-256.
func isSHA(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

func escapePath(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// web returns the address of the repository's web page. An Enterprise server has its API under /api/v3.
func (s *run) web() string {
	base := strings.TrimSuffix(s.Base, "/api/v3")
	if base == "https://api.github.com" {
		base = "https://github.com"
	}
	return base + "/" + s.id
}
