package contextmem

import (
	"context"

	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/verify"
)

// Verify checks all stored data for damage. It compares the checksums of all rows and index files, checks the structure of
// each store, reads its change feed and looks up every chunk in the indexes. The service can be used meanwhile. Verify reads
// all data, so it may take long, and it repairs nothing. Recalls leave out damaged items until they are ingested again; damaged
// indexes are rebuilt automatically. Damage is in the report; an error means that Verify could not
// continue. It needs a backend that supports verification, as that of [Open] does.
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
