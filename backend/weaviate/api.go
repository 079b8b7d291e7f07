package weaviate

import (
	"net/http"
	"runtime"

	objects "github.com/weaviate/weaviate-go-client/v5/weaviate/batch"
	nodes "github.com/weaviate/weaviate-go-client/v5/weaviate/cluster"
	"github.com/weaviate/weaviate-go-client/v5/weaviate/connection"
	"github.com/weaviate/weaviate-go-client/v5/weaviate/data"
	"github.com/weaviate/weaviate-go-client/v5/weaviate/db"
	"github.com/weaviate/weaviate-go-client/v5/weaviate/graphql"
	"github.com/weaviate/weaviate-go-client/v5/weaviate/misc"
	"github.com/weaviate/weaviate-go-client/v5/weaviate/schema"
)

// api is the parts of the official client that this package uses, over the REST interface of one node. The whole client
// is not used, because it hides its connection, whose finalizer has to be removed; see newAPI.
type api struct {
	batch   *objects.API
	cluster *nodes.API
	data    *data.API
	graphQL *graphql.API
	misc    *misc.API
	schema  *schema.API
}

// leastVersion is the oldest release that this package supports. The client chooses its paths by the release. It would ask the
// node for it without a time limit, and take old paths while the node does not answer.
const leastVersion = "1.33.0"

// newAPI returns the parts of the client. It sends nothing.
func newAPI(scheme, host string, to *http.Client, headers map[string]string) *api {
	con := connection.NewConnection(scheme, host, to, 0, headers)
	// The finalizer sends to a channel that only connections with OAuth2 read. It would block the goroutine that runs all
	// finalizers of the process.
	runtime.SetFinalizer(con, nil)
	version := db.NewVersionProvider(func() string { return leastVersion })
	support := db.NewDBVersionSupport(version)
	return &api{
		batch: objects.New(con, nil, support), cluster: nodes.New(con), data: data.New(con, support), graphQL: graphql.New(con),
		misc: misc.New(con, version), schema: schema.New(con),
	}
}

func (a *api) Batch() *objects.API   { return a.batch }
func (a *api) Cluster() *nodes.API   { return a.cluster }
func (a *api) Data() *data.API       { return a.data }
func (a *api) GraphQL() *graphql.API { return a.graphQL }
func (a *api) Misc() *misc.API       { return a.misc }
func (a *api) Schema() *schema.API   { return a.schema }
