package contextmem

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/documents"
)

// PresignedPath is where httpapi serves presigned URLs: PresignedPath + token.
const PresignedPath = "/content/"

// presign returns a URL that serves a source version without a key until it expires.
func (s *Service) presign(uid string, num int64, until time.Time) string {
	return strings.TrimSuffix(s.opts.PublicURL, "/") + PresignedPath + s.secrets.Token(uid, num, until)
}

// OpenPresigned returns the original to which a presigned URL refers. It returns
// fault.ErrForbidden or fault.ErrNotFound unless the token is genuine and not expired.
func (s *Service) OpenPresigned(ctx context.Context, token string) (*Fetched, error) {
	const op = "open presigned url"
	return called(s, func() (*Fetched, error) {
		uid, num, err := s.secrets.ReadToken(token, time.Now())
		if err != nil {
			return nil, &fault.Error{Op: op, Kind: fault.KindForbidden, Resource: fault.File, Err: err}
		}
		ref, err := s.set.OpenUID(ctx, uid)
		if errors.Is(err, backend.ErrNotFound) {
			return nil, documents.Gone(op)
		}
		if err != nil {
			return nil, fault.Wrap(op, fault.File, "", err)
		}
		defer ref.Release()
		return documents.LoadVersion(ctx, op, ref.Space, num)
	})
}
