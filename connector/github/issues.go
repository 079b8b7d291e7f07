package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/internal/webapi"
	"github.com/contextmem/contextmem/content"
)

const (
	maxSeen      = 1000            // maximum numbers in the cursor; issues beyond it are read again
	settleTime   = 3 * time.Second // an issue may change again within the second of its time stamp
	maxPages     = 50              // listing pages in one call that hold nothing new
	maxLinked    = 50              // references kept of one issue
	maxBodyBytes = 1 << 20
)

// user is an account. It is null for a deleted account.
type user struct {
	Login string `json:"login"`
}

// issue is an issue or, with PullRequest set, a pull request.
type issue struct {
	Number    int    `json:"number"`
	Title     string `json:"title"`
	Body      string `json:"body"`
	State     string `json:"state"`
	HTMLURL   string `json:"html_url"`
	User      *user  `json:"user"`
	Assignee  *user  `json:"assignee"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
	Comments  int    `json:"comments"`
	Labels    []struct {
		Name string `json:"name"`
	} `json:"labels"`
	PullRequest *struct {
		MergedAt string `json:"merged_at"`
	} `json:"pull_request"`
}

type comment struct {
	ID        int64  `json:"id"`
	Body      string `json:"body"`
	User      *user  `json:"user"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
	HTMLURL   string `json:"html_url"`
	Path      string `json:"path"` // of the file, for review comments
}

func login(u *user) string {
	if u == nil {
		return ""
	}
	return u.Login
}

// issues reads the listing from the cursor on, oldest change first.
func (s *run) issues(ctx context.Context) error {
	for range maxPages {
		more, err := s.issuePage(ctx)
		if err != nil {
			return err
		}
		if !more {
			s.state.Issues.Page = 0
			return nil
		}
		if s.room() <= 0 {
			s.page.More = true
			return nil
		}
	}
	s.page.More = true
	return nil
}

// issuePage reads one page and reports whether more pages follow. It restarts the listing at the last time stamp instead of
// using page numbers. An issue that changes meanwhile moves to the end, and page numbers would then skip another issue.
func (s *run) issuePage(ctx context.Context) (bool, error) {
	st := &s.state.Issues
	q := url.Values{"state": {"all"}, "sort": {"updated"}, "direction": {"asc"}, "per_page": {strconv.Itoa(s.limit)}, "page": {strconv.Itoa(max(st.Page, 1))}}
	if st.Since != "" {
		q.Set("since", st.Since)
	}
	var list []issue
	a, err := s.JSON(ctx, webapi.Request{Path: s.path + "/issues", Query: q}, &list)
	if webapi.HasStatus(err, http.StatusGone) { // issues are disabled
		return false, nil
	}
	if err != nil {
		return false, err
	}
	moved := false
	for i := range list {
		is := &list[i]
		at, err := time.Parse(time.RFC3339, is.UpdatedAt)
		if err != nil || is.Number <= 0 {
			return false, errors.New("github: an issue without number or time")
		}
		if is.UpdatedAt == st.Since && slices.Contains(st.Seen, is.Number) {
			continue
		}
		if s.room() <= 0 {
			return true, nil
		}
		typ := TypeIssue
		if is.PullRequest != nil {
			typ = TypePullRequest
		}
		if s.want[typ] {
			o, err := s.ticket(ctx, is, typ)
			if err != nil {
				return false, err
			}
			s.page.Objects = append(s.page.Objects, o)
		}
		if is.UpdatedAt > st.Since {
			st.Since, st.Seen, st.Page, moved = is.UpdatedAt, nil, 1, true
		}
		if is.UpdatedAt == st.Since && len(st.Seen) < maxSeen && a.Sent.Sub(at) > settleTime {
			st.Seen = append(st.Seen, is.Number)
		}
	}
	if a.Next() && !moved {
		st.Page = max(st.Page, 1) + 1
	}
	return a.Next() && len(list) > 0, nil
}

// ticket converts an issue and its comments to an object.
func (s *run) ticket(ctx context.Context, is *issue, typ string) (connector.Object, error) {
	var comments []comment
	cut := false
	number := strconv.Itoa(is.Number)
	paths := []string{}
	if is.Comments > 0 {
		paths = append(paths, s.path+"/issues/"+number+"/comments")
	}
	if typ == TypePullRequest {
		paths = append(paths, s.path+"/pulls/"+number+"/comments")
	}
	for _, path := range paths {
		list, over, err := s.comments(ctx, path, s.p.cfg.MaxComments-len(comments))
		if err != nil {
			return connector.Object{}, err
		}
		comments, cut = append(comments, list...), cut || over
	}
	state := is.State
	if is.PullRequest != nil && is.PullRequest.MergedAt != "" {
		state = "merged"
	}
	id := s.id + "#" + number
	texts := []string{is.Body}
	embedded := make([]map[string]any, 0, len(comments))
	for _, c := range comments {
		props := map[string]any{"url": c.HTMLURL, "updated_at": c.UpdatedAt}
		if c.Path != "" {
			props["path"] = webapi.Clip(c.Path, 500)
		}
		embedded = append(embedded, map[string]any{"id": s.id + "#comment-" + strconv.FormatInt(c.ID, 10), "author": login(c.User), "body": webapi.Clip(c.Body, s.text), "created_at": c.CreatedAt, "properties": props})
		texts = append(texts, c.Body)
	}
	fields := map[string]any{
		"kind": "ticket", "title": is.Title, "description": webapi.Clip(is.Body, s.text), "status": state,
		"reporter": login(is.User), "assignee": login(is.Assignee), "created_at": is.CreatedAt, "updated_at": is.UpdatedAt, "url": is.HTMLURL,
	}
	if linked := s.references(id, texts); len(linked) > 0 {
		fields["linked_issue_ids"] = linked
	}
	extra := map[string]any{"number": is.Number, "state": state}
	var labels []any
	for _, l := range is.Labels {
		if len(labels) < 8 {
			labels = append(labels, webapi.Clip(l.Name, 50))
		}
	}
	if labels != nil {
		extra["labels"] = labels
	}
	if cut {
		extra["comments_truncated"] = true
	}
	return connector.Object{ExternalID: id, App: &content.AppItem{
		Title: is.Title, Type: typ, Kind: content.AppTicket, Provider: Name, ExternalID: id, URL: is.HTMLURL, Timestamp: is.UpdatedAt,
		Fields: fields, Comments: embedded, Metadata: s.container(typ), Additional: extra,
	}}, nil
}

// comments returns the oldest n comments, oldest first. over reports whether there are more.
func (s *run) comments(ctx context.Context, path string, n int) (all []comment, over bool, err error) {
	for page := 1; len(all) < n; page++ {
		var list []comment
		a, err := s.JSON(ctx, webapi.Request{Path: path, Query: url.Values{"per_page": {strconv.Itoa(s.p.cfg.PageSize)}, "page": {strconv.Itoa(page)}}}, &list)
		if webapi.HasStatus(err, http.StatusNotFound, http.StatusGone) { // the issue was deleted meanwhile
			return all, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		all = append(all, list...)
		if !a.Next() || len(list) == 0 {
			break
		}
		over = len(all) >= n
	}
	if n = max(n, 0); len(all) > n {
		all, over = all[:n], true
	}
	return all, over || n == 0, nil
}

// reference matches "#12" and "owner/name#12" as GitHub links them.
var reference = regexp.MustCompile(`(?:^|[\s(\[,;:])([A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100})?#([1-9][0-9]{0,9})\b`)

// references returns the external ids of the issues that the texts mention, except the issue itself.
func (s *run) references(self string, texts []string) []any {
	var out []any
	for _, t := range texts {
		for _, m := range reference.FindAllStringSubmatch(webapi.Clip(t, maxBodyBytes), maxLinked) {
			repo := m[1]
			if repo == "" {
				repo = s.id
			}
			id := fmt.Sprintf("%s#%s", repo, m[2])
			if id != self && len(out) < maxLinked && !slices.Contains(out, any(id)) {
				out = append(out, id)
			}
		}
	}
	return out
}

// container returns the metadata of the repository that holds an object.
func (s *run) container(typ string) map[string]any {
	return map[string]any{"container_type": "repository", "container_id": s.id, "container_name": s.id, "object_type": typ}
}
