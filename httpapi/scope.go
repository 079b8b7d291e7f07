package httpapi

import (
	"errors"
	"strings"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

// withTenant adapts an operation on the tenant named in the request.
func withTenant(do func(*call, contextmem.Tenant) (any, error)) func(*call) (any, error) {
	return func(c *call) (any, error) {
		t, err := c.tenant()
		if err != nil {
			return nil, err
		}
		return do(c, t)
	}
}

// withPathTenant adapts an operation on the tenant named in the path.
func withPathTenant(do func(*call, contextmem.Tenant) (any, error)) func(*call) (any, error) {
	return func(c *call) (any, error) {
		t, err := c.pathTenant()
		if err != nil {
			return nil, err
		}
		return do(c, t)
	}
}

// withSub adapts an operation on the sub-tenant named in the request.
func withSub(do func(*call, contextmem.Sub) (any, error)) func(*call) (any, error) {
	return func(c *call) (any, error) {
		sub, err := c.sub()
		if err != nil {
			return nil, err
		}
		return do(c, sub)
	}
}

// tenant returns the tenant named in the request if the key has access to it.
func (c *call) tenant() (contextmem.Tenant, error) {
	name := c.scopeField()
	id, err := c.in.string(name)
	if err != nil {
		return contextmem.Tenant{}, err
	}
	if strings.TrimSpace(id) == "" {
		return contextmem.Tenant{}, bad(fault.KindInvalid, name, "is required")
	}
	return c.tenantNamed(id)
}

func (c *call) tenantNamed(id string) (contextmem.Tenant, error) {
	if !c.who.Key.AllowsTenant(id) {
		return contextmem.Tenant{}, &contextmem.Error{Kind: fault.KindForbidden, Err: errors.New("the key is restricted to other tenants")}
	}
	c.scope.database = id
	return c.org.Tenant(id), nil
}

// scopeNames holds the database and the collection of a request; each is empty if the request names none.
type scopeNames struct{ database, collection string }

// sub returns the sub-tenant of the request, or the default one if the request names none.
func (c *call) sub() (contextmem.Sub, error) {
	t, err := c.tenant()
	if err != nil {
		return contextmem.Sub{}, err
	}
	name, err := c.in.string(c.subField())
	if err != nil {
		return contextmem.Sub{}, err
	}
	c.scope.collection = name
	return t.Sub(name), nil
}

func (c *call) scopeField() string {
	if c.rt.family == gen1 {
		return "tenant_id"
	}
	return "database"
}

func (c *call) subField() string {
	if c.rt.family == gen1 {
		return "sub_tenant_id"
	}
	return "collection"
}

func (c *call) pathTenant() (contextmem.Tenant, error) {
	name := c.r.PathValue("database")
	if v, err := c.in.string("database"); err != nil {
		return contextmem.Tenant{}, err
	} else if v != "" && v != name {
		return contextmem.Tenant{}, bad(fault.KindInvalid, "database", "differs from the path")
	}
	return c.tenantNamed(name)
}
