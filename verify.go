package contextmem

import (
	"context"

	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/verify"
)

// Verify looks for damage in everything that is stored: it compares the checksums of all rows and of all index files, checks
// the structure of each store, walks through its change feed and asks the indexes for every chunk. The service can be
// used meanwhile. It reads everything, so it takes its time, and repairs nothing: damaged items are left out of recalls, and
// come back when they are ingested again; an index that is damaged is built anew by itself. The error says that it could
// not go on; damage is not an error. It needs a backend that says what it keeps, as that of [Open] does.
func (s *Service) Verify(ctx context.Context) (*VerifyReport, error) {
	var out *VerifyReport
	err := s.call(func() (err error) {
		ctx, cancel := s.gate.Bind(ctx)
		defer cancel()
		out, err = (&verify.Engine{Set: s.set}).Run(ctx)
		return fault.Wrap("verify", "", "", err)
	})
	return out, err
}
