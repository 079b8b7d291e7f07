package weaviate

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/weaviate/weaviate/entities/models"
)

// collections is the schema of a deployment: one collection of chunks, and one of vectors for each vector length.
type collections struct {
	cluster  *cluster
	prefix   string
	replicas int

	mu     sync.Mutex
	made   map[string]bool // collections that exist
	active map[string]bool // tenants that exist and were activated, as collection/uid
}

// Properties of objects.
const (
	propSpace  = "space"  // partition, followed by the lane for a vector; "state" for the state of a process
	propSub    = "sub"    // sub-tenant
	propSource = "source" // Num of the version
	propChunk  = "chunk"  // Num of the chunk
	propTags   = "tags"   // tags of the version
	propWords  = "words"  // terms, repeated according to their weight
	propStops  = "stops"  // stop words, once each
	propLength = "length" // number of words, weighted
	propBag    = "bag"    // all terms with their positions; for the state of a process its JSON
	propPlace  = "place"  // chunk and lane of a vector
	propLane   = "lane"   // lane of a vector
)

func openCollections(ctx context.Context, c *cluster, o *Options) (*collections, error) {
	s := &collections{cluster: c, prefix: o.Prefix, replicas: o.Replicas, made: make(map[string]bool), active: make(map[string]bool)}
	if s.replicas == 0 {
		err := c.call(ctx, "ask for the nodes", route{}, func(ctx context.Context, n *node) error {
			status, err := n.Cluster().NodesStatusGetter().Do(ctx)
			if err == nil {
				s.replicas = min(max(len(status.Nodes), 1), maxReplicas)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	return s, s.make(ctx, s.chunks())
}

// chunks returns the name of the collection of chunks.
func (s *collections) chunks() string { return s.prefix + "Chunk" }

// uses returns the name of the collection of uses; see offloading.
func (s *collections) uses() string { return s.prefix + "Use" }

// vectors returns the name of the collection of vectors of a length.
func (s *collections) vectors(dim int) string { return s.prefix + "Vector" + strconv.Itoa(dim) }

// refresh reads from the cluster which collections exist.
func (s *collections) refresh(ctx context.Context) error {
	return s.cluster.call(ctx, "read the schema", route{}, func(ctx context.Context, n *node) error {
		dump, err := n.Schema().Getter().Do(ctx)
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, class := range dump.Classes {
			if class.Class == s.chunks() || class.Class == s.uses() || strings.HasPrefix(class.Class, s.prefix+"Vector") {
				s.made[class.Class] = true
			}
		}
		return nil
	})
}

// dims returns the vector lengths that have a collection, in ascending order.
func (s *collections) dims() (out []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.made {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, s.prefix+"Vector")); err == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// addDims records that there are collections for vectors of some lengths.
func (s *collections) addDims(dims []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, dim := range dims {
		s.made[s.vectors(dim)] = true
	}
}

// has reports whether a collection is known to exist.
func (s *collections) has(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made[name]
}

// make creates a collection unless it exists.
func (s *collections) make(ctx context.Context, name string) error {
	if s.has(name) {
		return nil
	}
	class := s.class(name)
	err := s.cluster.call(ctx, "make a collection", route{}, func(ctx context.Context, n *node) error {
		err := n.Schema().ClassCreator().WithClass(class).Do(ctx)
		if statusOf(err) == http.StatusUnprocessableEntity { // another process has created it, or the schema is refused
			there, terr := n.Schema().ClassExistenceChecker().WithClassName(name).Do(ctx)
			if terr != nil {
				return terr
			}
			if there {
				return nil
			}
			return &refusal{http.StatusUnprocessableEntity}
		}
		return err
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made[name] = true
	return nil
}

// class returns the definition of a collection.
func (s *collections) class(name string) *models.Class {
	yes, no := true, false
	exact := func(name string) *models.Property {
		return &models.Property{Name: name, DataType: []string{"text"}, Tokenization: "field", IndexFilterable: &yes, IndexSearchable: &no}
	}
	tags := &models.Property{Name: propTags, DataType: []string{"text[]"}, Tokenization: "field", IndexFilterable: &yes, IndexSearchable: &no}
	plain := func(name, kind string) *models.Property {
		p := &models.Property{Name: name, DataType: []string{kind}, IndexFilterable: &no}
		if kind == "text" {
			p.Tokenization, p.IndexSearchable = "field", &no
		}
		return p
	}
	words := func(name string, searchable *bool) *models.Property {
		return &models.Property{Name: name, DataType: []string{"text"}, Tokenization: "whitespace", IndexFilterable: &yes, IndexSearchable: searchable}
	}
	class := &models.Class{
		Class: name, Vectorizer: "none",
		MultiTenancyConfig: &models.MultiTenancyConfig{Enabled: true, AutoTenantActivation: true, AutoTenantCreation: false},
		ReplicationConfig:  &models.ReplicationConfig{Factor: int64(s.replicas), AsyncEnabled: s.replicas > 1, DeletionStrategy: models.ReplicationConfigDeletionStrategyTimeBasedResolution},
		InvertedIndexConfig: &models.InvertedIndexConfig{
			Bm25:      &models.BM25Config{K1: k1, B: b},
			Stopwords: &models.StopwordConfig{Preset: "none"},
		},
		Properties: []*models.Property{exact(propSpace), exact(propSub), exact(propSource), exact(propChunk), tags},
	}
	if name == s.uses() {
		class.VectorIndexType = "hnsw"
		class.VectorIndexConfig = map[string]any{"skip": true}
		class.Properties = append(class.Properties, plain(propBag, "text"))
		return class
	}
	if name == s.chunks() {
		class.VectorIndexType = "hnsw"
		class.VectorIndexConfig = map[string]any{"skip": true}
		class.Properties = append(class.Properties, words(propWords, &yes), words(propStops, &no), plain(propLength, "int"), plain(propBag, "text"))
		return class
	}
	class.VectorIndexType = "hnsw"
	class.VectorIndexConfig = map[string]any{"distance": "dot", "maxConnections": 32, "efConstruction": 128, "ef": -1, "dynamicEfMin": 200, "dynamicEfMax": 1000, "flatSearchCutoff": exactVectors}
	class.Properties = append(class.Properties, exact(propPlace), exact(propLane))
	return class
}

// tenant ensures that a workspace has a tenant in a collection. It creates a missing collection or tenant.
func (s *collections) tenant(ctx context.Context, collection, uid string) error {
	key := collection + "/" + uid
	s.mu.Lock()
	known := s.active[key]
	s.mu.Unlock()
	if known {
		return nil
	}
	if err := s.make(ctx, collection); err != nil {
		return err
	}
	t := models.Tenant{Name: uid, ActivityStatus: models.TenantActivityStatusACTIVE}
	err := s.cluster.call(ctx, "make a tenant", route{}, func(ctx context.Context, n *node) error {
		there, err := s.hasTenant(ctx, n, collection, uid)
		if err != nil || there {
			return err // an inactive tenant becomes active when it is used
		}
		return n.Schema().TenantsCreator().WithClassName(collection).WithTenants(t).Do(ctx)
	})
	if err == nil {
		s.setActive(key, true)
	}
	return err
}

func (s *collections) setActive(key string, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if there {
		s.active[key] = true
	} else {
		delete(s.active, key)
	}
}

// tenantExists reports whether a workspace has a tenant in a collection.
func (s *collections) tenantExists(ctx context.Context, collection, uid string) (there bool, err error) {
	key := collection + "/" + uid
	s.mu.Lock()
	known, made := s.active[key], s.made[collection]
	s.mu.Unlock()
	if known || !made {
		return known, nil
	}
	err = s.cluster.call(ctx, "look for a tenant", route{}, func(ctx context.Context, n *node) (err error) {
		there, err = s.hasTenant(ctx, n, collection, uid)
		return err
	})
	if err == nil && there {
		s.setActive(key, true)
	}
	return there, err
}

func (s *collections) hasTenant(ctx context.Context, n *node, collection, uid string) (bool, error) {
	return n.Schema().TenantsExists().WithClassName(collection).WithTenant(uid).Do(ctx)
}

// all returns the names of the collections that may have objects of a workspace.
func (s *collections) all() []string {
	out := []string{s.chunks()}
	for _, d := range s.dims() {
		out = append(out, s.vectors(d))
	}
	return out
}

// status returns the activity status of a workspace's tenant in a collection, or "" if there is no such tenant.
func (s *collections) status(ctx context.Context, collection, uid string) (status string, err error) {
	err = s.cluster.call(ctx, "ask for the status of a tenant", route{timeout: searchTimeout}, func(ctx context.Context, n *node) (err error) {
		status, err = n.tenantStatus(ctx, s.cluster.http, collection, uid)
		return err
	})
	return status, err
}

// tenantStatus asks a node for the activity status of one tenant. The client can only list all tenants.
func (n *node) tenantStatus(ctx context.Context, with *http.Client, collection, uid string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, n.url+"/v1/schema/"+collection+"/tenants/"+uid, nil)
	if err != nil {
		return "", err
	}
	if n.key != "" {
		r.Header.Set("Authorization", "Bearer "+n.key)
	}
	answer, err := with.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return "", nil
	case http.StatusUnauthorized:
		return "", &refusal{answer.StatusCode}
	default: // also 403, the answer of nodes that have no leader
		return "", errAgain
	}
	var t models.Tenant
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<16)).Decode(&t); err != nil {
		return "", errAgain
	}
	return t.ActivityStatus, nil
}

// dropTenant deletes the tenants of a workspace in all collections.
func (s *collections) dropTenant(ctx context.Context, uid string) error {
	if err := s.refresh(ctx); err != nil {
		return err
	}
	for _, collection := range s.all() {
		s.setActive(collection+"/"+uid, false)
		err := s.cluster.call(ctx, "remove a tenant", route{}, func(ctx context.Context, n *node) error {
			there, err := s.hasTenant(ctx, n, collection, uid)
			if err != nil || !there {
				return err
			}
			return n.Schema().TenantsDeleter().WithClassName(collection).WithTenants(uid).Do(ctx)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// deactivate deactivates the tenants of a workspace, so that they use no memory. A tenant becomes active again when it is used.
func (s *collections) deactivate(ctx context.Context, uid string) error {
	for _, collection := range s.all() {
		key := collection + "/" + uid
		s.mu.Lock()
		known := s.active[key]
		s.mu.Unlock()
		if !known {
			continue
		}
		s.setActive(key, false)
		t := models.Tenant{Name: uid, ActivityStatus: models.TenantActivityStatusINACTIVE}
		for _, n := range s.cluster.nodes { // one success is enough, and errors are ignored
			if err := n.Schema().TenantsUpdater().WithClassName(collection).WithTenants(t).Do(ctx); err == nil || ctx.Err() != nil {
				break
			}
		}
	}
	return nil
}
