package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"
)

// Errors of ReadToken.
var (
	ErrToken        = errors.New("the link is not genuine")
	ErrTokenExpired = errors.New("the link has expired")
)

const tokenBytes = 16 + 8 + 8 // bytes that are signed

// Token returns the token of a presigned URL for version num of a source in the workspace uid (32 hexadecimal digits).
// The token is base64url of uid (16 bytes), version, expiry in Unix seconds (8 bytes each) and their HMAC-SHA256.
func (s *Secrets) Token(uid string, num int64, until time.Time) string {
	b, _ := hex.DecodeString(uid)
	b = binary.BigEndian.AppendUint64(b, uint64(num))
	b = binary.BigEndian.AppendUint64(b, uint64(until.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(b, s.sum(b)...))
}

// ReadToken returns the arguments of Token. The error is ErrToken or ErrTokenExpired.
func (s *Secrets) ReadToken(token string, now time.Time) (uid string, num int64, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) != tokenBytes+sha256.Size || !hmac.Equal(s.sum(b[:tokenBytes]), b[tokenBytes:]) {
		return "", 0, ErrToken
	}
	if now.Unix() >= int64(binary.BigEndian.Uint64(b[24:])) {
		return "", 0, ErrTokenExpired
	}
	return hex.EncodeToString(b[:16]), int64(binary.BigEndian.Uint64(b[16:])), nil
}

func (s *Secrets) sum(b []byte) []byte {
	cur, _ := s.keys()
	m := hmac.New(sha256.New, cur.presign)
	m.Write(b)
	return m.Sum(nil)
}
