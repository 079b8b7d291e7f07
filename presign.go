package contextmem

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
)

// PresignedPath is where httpapi serves presigned URLs: PresignedPath + token.
const PresignedPath = "/content/"

// presign returns a URL that serves a source version without a key until it expires. The
// token is base64url of uid (16 bytes), version, expiry (8 bytes each) and an
// HMAC-SHA256 of these.
func (s *Service) presign(uid string, num int64, until time.Time) string {
	b, _ := hex.DecodeString(uid)
	b = binary.BigEndian.AppendUint64(b, uint64(num))
	b = binary.BigEndian.AppendUint64(b, uint64(until.Unix()))
	m := hmac.New(sha256.New, s.secrets.presign)
	m.Write(b)
	return strings.TrimSuffix(s.opts.PublicURL, "/") + PresignedPath + base64.RawURLEncoding.EncodeToString(m.Sum(b))
}

func (s *Service) openPresigned(ctx context.Context, token string) (*Fetched, error) {
	const op = "open presigned url"
	refuse := func(why string) error {
		return &Error{Op: op, Kind: KindForbidden, Resource: ResourceFile, Err: errors.New(why)}
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) != 16+8+8+sha256.Size {
		return nil, refuse("the link is not genuine")
	}
	m := hmac.New(sha256.New, s.secrets.presign)
	m.Write(b[:32])
	if !hmac.Equal(m.Sum(nil), b[32:]) {
		return nil, refuse("the link is not genuine")
	}
	if time.Now().Unix() >= int64(binary.BigEndian.Uint64(b[24:])) {
		return nil, refuse("the link has expired")
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	gone := &Error{Op: op, Kind: KindNotFound, Resource: ResourceFile, Err: errors.New("file not found")}
	t, err := s.reg.TenantByUID(ctx, hex.EncodeToString(b[:16]))
	if errors.Is(err, backend.ErrNotFound) || (err == nil && t.State != backend.TenantReady) {
		return nil, gone
	}
	if err != nil {
		return nil, wrap(op, ResourceFile, "", err)
	}
	sp, err := s.spaces.Acquire(ctx, t.UID)
	if err != nil {
		return nil, wrap(op, ResourceFile, "", err)
	}
	defer s.spaces.Release(t.UID)
	srcs, err := sp.store.SourcesByNum(ctx, []int64{int64(binary.BigEndian.Uint64(b[16:]))})
	if err != nil {
		return nil, wrap(op, ResourceFile, "", err)
	}
	if srcs[0] == nil || expired(srcs[0], time.Now()) {
		return nil, gone
	}
	return s.load(ctx, op, &held{space: sp, svc: s}, srcs[0], true, false)
}

// looksLikeText tells whether bytes are text to show as such: UTF-8 without control characters.
func looksLikeText(data []byte) bool {
	head := data[:min(len(data), 8192)]
	for _, c := range head {
		if c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b {
			return false
		}
	}
	return utf8.Valid(data) && !strings.HasPrefix(string(head[:min(len(head), 5)]), "%PDF-")
}

// sniffType finds a media type from a name, else from the content.
func sniffType(name string, data []byte) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return "text/markdown"
	case ".csv":
		return "text/csv"
	case ".jsonl":
		return "application/x-ndjson"
	case ".txt":
		return "text/plain"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return http.DetectContentType(data)
}
