package contextmem

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/documents"
	"github.com/contextmem/contextmem/internal/item"
)

// PresignedPath is where httpapi serves presigned URLs: PresignedPath + token.
const PresignedPath = "/content/"

// presign returns a URL that serves a source version without a key until it expires.
func (s *Service) presign(uid string, num int64, until time.Time) string {
	return strings.TrimSuffix(s.opts.PublicURL, "/") + PresignedPath + s.secrets.Token(uid, num, until)
}

func (s *Service) openPresigned(ctx context.Context, token string) (*Fetched, error) {
	const op = "open presigned url"
	uid, num, err := s.secrets.ReadToken(token, time.Now())
	if err != nil {
		return nil, &fault.Error{Op: op, Kind: fault.KindForbidden, Resource: fault.File, Err: err}
	}
	gone := &fault.Error{Op: op, Kind: fault.KindNotFound, Resource: fault.File, Err: errors.New("file not found")}
	ref, err := s.set.OpenUID(ctx, uid)
	if errors.Is(err, backend.ErrNotFound) {
		return nil, gone
	}
	if err != nil {
		return nil, fault.Wrap(op, fault.File, "", err)
	}
	defer ref.Release()
	srcs, err := ref.Store.SourcesByNum(ctx, []int64{num})
	if err != nil {
		return nil, fault.Wrap(op, fault.File, "", err)
	}
	if srcs[0] == nil || item.Expired(srcs[0], time.Now()) {
		return nil, gone
	}
	return documents.Load(ctx, op, ref.Space, srcs[0], true, documents.ShowOriginal)
}
