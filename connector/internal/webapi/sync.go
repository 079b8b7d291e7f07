package webapi

import (
	"encoding/json"
	"errors"

	"github.com/contextmem/contextmem/connector"
)

// CursorVersion is the value of member "v" in a provider's cursor. A cursor with another version is refused.
const CursorVersion = 1

// ReadCursor decodes a cursor that Finish wrote.
func ReadCursor(name, cursor string, state any) error {
	var v struct {
		Version int `json:"v"`
	}
	if json.Unmarshal([]byte(cursor), &v) != nil || v.Version != CursorVersion || json.Unmarshal([]byte(cursor), state) != nil {
		return errors.New(name + ": the cursor is not valid")
	}
	return nil
}

// Finish returns the page of a Sync call with state as its cursor. If err is a *connector.RateLimited and the page is not
// empty, Finish returns the page with More set. It returns any other error unchanged.
func Finish(page *connector.Page, state any, err error, read bool) (*connector.Page, error) {
	if err != nil {
		if _, pause := errors.AsType[*connector.RateLimited](err); !pause || !read {
			return nil, err
		}
		page.More = true
	}
	cursor, err := json.Marshal(state)
	if err != nil {
		return nil, err
	}
	page.Cursor = string(cursor)
	return page, nil
}

// AtMost returns the byte limit for one object: the smaller of most and limit. A limit that is not set is ignored.
func AtMost(most, limit int64) int {
	if limit > 0 {
		most = min(most, limit)
	}
	return int(most)
}
