package github

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/internal/webapi"
)

// state is the cursor of a repository.
type state struct {
	Version int        `json:"v"`
	Issues  issueState `json:"i"`
	Files   fileState  `json:"f"`
}

// issueState is the position in the issues. All issues before Since were read, and of the issues at Since those in Seen. Page
// counts the pages read from Since on. It exceeds 1 only while a whole page shares one second.
type issueState struct {
	Since string `json:"s,omitempty"`
	Page  int    `json:"p,omitempty"`
	Seen  []int  `json:"n,omitempty"`
}

// fileState is the position in the files. Base is the last completed commit. While changes up to Head are being read, After is
// the last path read.
type fileState struct {
	Base  string `json:"b,omitempty"`
	Head  string `json:"h,omitempty"`
	After string `json:"a,omitempty"`
	ETag  string `json:"e,omitempty"` // of the request for the head
}

// run is one Sync call.
type run struct {
	*webapi.Client
	p     *Provider
	id    string // owner/name
	path  string // of the API
	limit int
	most  int64 // bytes of a file
	text  int   // bytes of one text of a ticket
	reads func(name, contentType string) bool
	want  map[string]bool
	state state
	page  *connector.Page
}

// Sync implements connector.Provider. It reads issues first, then files. When the API asks for a pause in the middle, Sync returns
// the objects read so far, with More set. If it has read nothing, it returns the *connector.RateLimited. Since bounds issues and
// pull requests by change time. Files have no times, so all files are read.
func (p *Provider) Sync(ctx context.Context, r connector.SyncRequest) (*connector.Page, error) {
	cl, err := p.client(r.Credentials)
	if err != nil {
		return nil, err
	}
	path, ok := repository(r.ResourceID)
	if !ok {
		return nil, errors.New("github: the resource is not an owner/name")
	}
	want, err := wanted(r.Type, r.Filters)
	if err != nil {
		return nil, err
	}
	s := &run{Client: cl, p: p, id: r.ResourceID, path: path, limit: webapi.Size(r.Limit, p.cfg.PageSize), want: want, page: &connector.Page{},
		most: int64(webapi.AtMost(p.cfg.MaxFileBytes, r.MaxBytes)), text: webapi.AtMost(maxBodyBytes, r.MaxBytes), reads: r.Supported}
	if r.Cursor == "" {
		s.state.Version = webapi.CursorVersion
		if !r.Since.IsZero() {
			s.state.Issues.Since = r.Since.UTC().Format(time.RFC3339)
		}
	} else if err := webapi.ReadCursor(Name, r.Cursor, &s.state); err != nil {
		return nil, err
	}
	if want[TypeIssue] || want[TypePullRequest] {
		err = s.issues(ctx)
	}
	if err == nil && !s.page.More && want[TypeFile] {
		err = s.files(ctx)
	}
	return webapi.Finish(s.page, s.state, err, len(s.page.Objects)+len(s.page.Deleted) > 0)
}

// wanted returns the object types selected by the resource's type and its filter.
func wanted(typ string, filters map[string]any) (map[string]bool, error) {
	all := []string{TypeIssue, TypePullRequest, TypeFile}
	want := map[string]bool{}
	if slices.Contains(all, typ) {
		want[typ] = true
		return want, nil
	}
	var names []string
	switch v := filters["object_types"].(type) {
	case nil:
		names = all
	case string:
		names = []string{v}
	case []string:
		names = v
	case []any:
		for _, e := range v {
			s, _ := e.(string)
			names = append(names, s)
		}
	}
	for _, n := range names {
		if !slices.Contains(all, n) {
			return nil, errors.New("github: filter object_types names an unknown type")
		}
		want[n] = true
	}
	if len(want) == 0 {
		return nil, errors.New("github: filter object_types is empty")
	}
	return want, nil
}

func (s *run) room() int { return s.limit - len(s.page.Objects) - len(s.page.Deleted) }
