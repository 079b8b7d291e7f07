package inmem

import (
	"context"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.ClaimEnder = (*store)(nil)

// Claimants implements [backend.ClaimEnder].
func (s *store) Claimants(ctx context.Context) (tokens []string, err error) {
	err = s.write(ctx, func(d *storeData) error {
		d.visitQueue(func(v *version) bool {
			if v.src.Token != "" {
				tokens = append(tokens, v.src.Token)
			}
			return true
		})
		return nil
	})
	slices.Sort(tokens)
	return slices.Compact(tokens), err
}

// EndClaims implements [backend.ClaimEnder].
func (s *store) EndClaims(ctx context.Context, tokens []string, attempts int) (n int, err error) {
	err = s.write(ctx, func(d *storeData) error {
		d.visitQueue(func(v *version) bool {
			if v.src.Token != "" && v.src.Attempts < attempts && slices.Contains(tokens, v.src.Token) {
				v.src.Token, v.src.LeaseUntil = "", time.Time{}
				n++
			}
			return true
		})
		return nil
	})
	return n, err
}
