package contextmem_test

import (
	"context"
	"log"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
)

// demo opens a service that keeps everything in memory, with a tenant "acme" that is ready. The examples start with it.
func demo(o *contextmem.Options) (*contextmem.Service, contextmem.Tenant) {
	ctx := context.Background()
	svc, err := contextmem.New(ctx, inmem.New(), o)
	check(err)
	_, err = svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "acme"})
	check(err)
	acme := svc.Tenant("acme")
	check(acme.WaitReady(ctx))
	return svc, acme
}

// learn adds memories to a sub-tenant and waits until they can be recalled.
func learn(s contextmem.Sub, ms ...contextmem.Memory) {
	ctx := context.Background()
	res, err := s.AddMemories(ctx, contextmem.MemoryBatch{Memories: ms})
	check(err)
	_, err = s.Wait(ctx, res.IDs()...)
	check(err)
}

// check ends the program where a real one would handle the error.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
