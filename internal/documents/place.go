package documents

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
)

// placeOf decodes the cursor of a request; nil if the request has none.
func placeOf(op string, r *content.ListRequest) (*backend.ListPlace, error) {
	field, cursor := "After", r.After
	if r.Before != "" {
		field, cursor = "Before", r.Before
	}
	switch {
	case cursor == "":
		return nil, nil
	case r.Page != 0:
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Page", "excludes %s", field)
	case r.After != "" && r.Before != "":
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Before", "excludes After")
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	at, id, ok := strings.Cut(string(b), " ")
	if err == nil && ok && at == "" {
		return &backend.ListPlace{ID: id}, nil
	}
	micros, nerr := strconv.ParseInt(at, 36, 64)
	if err != nil || !ok || nerr != nil {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", field, "is not one that a page returned")
	}
	return &backend.ListPlace{Updated: time.UnixMicro(micros).UTC(), ID: id}, nil
}

func cursorOf(src *backend.Source) string {
	at := ""
	if !src.UpdatedAt.IsZero() {
		at = strconv.FormatInt(src.UpdatedAt.UnixMicro(), 36)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(at + " " + src.ID))
}

// cursors sets the cursors of a page and returns the sources that the page shows.
// srcs may hold one source more than the page size, which it drops; more reports whether there are further sources.
func cursors(p *content.SourcePage, r *content.ListRequest, srcs []*backend.Source, more bool) []*backend.Source {
	back := r.Before != ""
	if over := len(srcs) - r.PageSize; over > 0 {
		if back {
			srcs = srcs[over:]
		} else {
			srcs = srcs[:r.PageSize]
		}
	}
	if r.After != "" || back {
		p.Page = 0
	}
	if len(srcs) == 0 {
		return srcs
	}
	if more || back {
		p.Next = cursorOf(srcs[len(srcs)-1])
	}
	if back && more || r.After != "" || p.Page > 1 {
		p.Previous = cursorOf(srcs[0])
	}
	return srcs
}
