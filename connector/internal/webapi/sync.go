package webapi

import (
	"encoding/json"
	"errors"

	"github.com/contextmem/contextmem/connector"
)

// CursorVersion is what the state of a provider carries under "v", so that a cursor of another layout is refused.
const CursorVersion = 1

// ReadCursor reads the state that Finish wrote.
func ReadCursor(name, cursor string, state any) error {
	var v struct {
		Version int `json:"v"`
	}
	if json.Unmarshal([]byte(cursor), &v) != nil || v.Version != CursorVersion || json.Unmarshal([]byte(cursor), state) != nil {
		return errors.New(name + ": the cursor is not valid")
	}
	return nil
}

// Finish returns what a call of Sync has read, with state as its cursor. When the API asked for a pause (err is a
// *connector.RateLimited) after something was read, that is returned with More set; any other error is returned itself.
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

// AtMost is the number of bytes that are read of something: most, or limit where that is set and smaller.
func AtMost(most, limit int64) int {
	if limit > 0 {
		most = min(most, limit)
	}
	return int(most)
}
