package httpapi

import (
	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/wire"
)

// family is a group of routes with one format of responses and errors.
type family uint8

const (
	gen1       family = 1 // first generation: data without envelope, detail errors
	gen2       family = 2 // second generation: data in an envelope
	aliases    family = 3 // deprecated /tenants routes of the second generation
	webhooks   family = 4 // data without envelope, detail errors
	connectors family = 5 // data without envelope, both error formats
)

// words returns a message of the library in the words of the family.
func (f family) words(message string) string {
	if f == gen2 {
		return wire.Databases(message)
	}
	return message
}

type bodyKind uint8

const (
	bodyNone      bodyKind = 0 // no body; the values are in the query string
	bodyJSON      bodyKind = 1
	bodyOptional  bodyKind = 2 // JSON body or no body
	bodyMultipart bodyKind = 3
)

// route is one operation. The mux, the tests and the list in the README are derived from the table of routes.
type route struct {
	method, path  string
	family        family
	body          bodyKind
	scope         contextmem.Scope
	do            func(c *call) (any, error)
	text          func(c *call) error // answers requests that accept text; nil: the route has no text form
	status        int                 // status of a success; 0: 200
	request       string              // the service's request type, where field names depend on it; see wire.Field
	wholeOrg      bool                // keys that are restricted to tenants are refused
	successor     string              // replacement of a deprecated route
	unwrapRequest bool                // older bodies contain everything under "request"
	tell          bool                // members and parameters that no field has are told of
	invalidCode   string              // code of an invalid search parameter, if it is not INVALID_PARAMETERS
}

const (
	ingest = contextmem.ScopeIngest
	query  = contextmem.ScopeQuery
	manage = contextmem.ScopeManage
)

var routes = []route{
	// First generation.
	{method: "POST", path: "/tenants/create", family: gen1, body: bodyJSON, scope: manage, do: withTenant(v1CreateTenant), request: "TenantSpec"},
	{method: "GET", path: "/tenants/infra/status", family: gen1, scope: query, do: withTenant(v1InfraStatus)},
	{method: "DELETE", path: "/tenants/delete", family: gen1, scope: manage, do: withTenant(v1DeleteTenant)},
	{method: "GET", path: "/tenants/monitor", family: gen1, scope: query, do: withTenant(v1Monitor)},
	{method: "GET", path: "/tenants/sub_tenant_ids", family: gen1, scope: query, do: withTenant(v1SubTenants)},
	{method: "GET", path: "/tenants/tenant_ids", family: gen1, scope: query, do: v1TenantIDs},
	{method: "POST", path: "/memories/add_memory", family: gen1, body: bodyJSON, scope: ingest, do: withSub(v1AddMemory)},
	{method: "DELETE", path: "/memories/delete_memory", family: gen1, scope: ingest, do: withSub(v1DeleteMemory)},
	{method: "POST", path: "/ingestion/upload_knowledge", family: gen1, body: bodyMultipart, scope: ingest, do: withSub(v1UploadKnowledge)},
	{method: "POST", path: "/ingestion/verify_processing", family: gen1, body: bodyOptional, scope: query, do: v1VerifyProcessing, request: "Status"},
	{method: "POST", path: "/knowledge/delete_knowledge", family: gen1, body: bodyJSON, scope: ingest, do: withSub(v1DeleteKnowledge)},
	{method: "POST", path: "/fetch/content", family: gen1, body: bodyJSON, scope: query, do: withSub(v1FetchContent)},
	{method: "POST", path: "/recall/full_recall", family: gen1, body: bodyJSON, scope: query, do: withSub(v1FullRecall), request: "Recall"},
	{method: "POST", path: "/recall/recall_preferences", family: gen1, body: bodyJSON, scope: query, do: withSub(v1RecallPreferences), request: "Recall"},
	{method: "POST", path: "/recall/boolean_recall", family: gen1, body: bodyJSON, scope: query, do: withSub(v1BooleanRecall), request: "Recall"},
	{method: "POST", path: "/list/data", family: gen1, body: bodyJSON, scope: query, do: v1ListData, request: "ListRequest"},
	{method: "GET", path: "/list/graph_relations_by_id", family: gen1, scope: query, do: v1GraphRelations},
	{method: "POST", path: "/embeddings/insert_raw_embeddings", family: gen1, body: bodyJSON, scope: ingest, do: withSub(v1InsertEmbeddings)},
	{method: "POST", path: "/embeddings/search_raw_embeddings", family: gen1, body: bodyJSON, scope: query, do: withSub(v1SearchEmbeddings), invalidCode: "INVALID_SEARCH_PARAMETERS", request: "SearchVectorsRequest"},
	{method: "POST", path: "/embeddings/filter_raw_embeddings", family: gen1, body: bodyJSON, scope: query, do: withSub(v1FilterEmbeddings)},
	{method: "DELETE", path: "/embeddings/delete_raw_embeddings", family: gen1, scope: ingest, do: withSub(v1DeleteEmbeddings)},
	{method: "POST", path: "/api-keys/create_api_key", family: gen1, body: bodyOptional, scope: manage, do: v1CreateKey},
	{method: "GET", path: "/metrics", family: gen1, scope: manage, do: v1Metrics, text: metricsText},

	// Second generation.
	{method: "POST", path: "/databases", family: gen2, body: bodyJSON, scope: manage, do: withTenant(v2CreateDatabase), request: "TenantSpec"},
	{method: "GET", path: "/databases", family: gen2, scope: query, do: v2ListDatabases},
	{method: "DELETE", path: "/databases", family: gen2, body: bodyOptional, scope: manage, do: withTenant(v2DeleteDatabase)},
	{method: "GET", path: "/databases/status", family: gen2, scope: query, do: withTenant(v2DatabaseStatus)},
	{method: "GET", path: "/databases/collections", family: gen2, scope: query, do: withTenant(v2Collections)},
	{method: "DELETE", path: "/databases/collections", family: gen2, body: bodyOptional, scope: manage, do: withTenant(v2DeleteCollection)},
	{method: "GET", path: "/databases/stats", family: gen2, scope: query, do: withTenant(v2Stats)},
	{method: "GET", path: "/databases/{database}/metadata-schema", family: gen2, scope: query, do: withPathTenant(v2Schema)},
	{method: "PATCH", path: "/databases/{database}/metadata-schema", family: gen2, body: bodyJSON, scope: manage, do: withPathTenant(v2AddSchema), request: "schemaEdit"},
	{method: "POST", path: "/tenants", family: aliases, body: bodyJSON, scope: manage, do: withTenant(v2CreateDatabase), successor: "/databases", request: "TenantSpec"},
	{method: "GET", path: "/tenants", family: aliases, scope: query, do: v2ListDatabases, successor: "/databases"},
	{method: "DELETE", path: "/tenants", family: aliases, body: bodyOptional, scope: manage, do: withTenant(v2DeleteDatabase), successor: "/databases"},
	{method: "GET", path: "/tenants/status", family: aliases, scope: query, do: withTenant(v2DatabaseStatus), successor: "/databases/status"},
	{method: "GET", path: "/tenants/sub-tenants", family: aliases, scope: query, do: withTenant(v2Collections), successor: "/databases/collections"},
	{method: "GET", path: "/tenants/stats", family: aliases, scope: query, do: withTenant(v2Stats), successor: "/databases/stats"},
	{method: "POST", path: "/context/ingest", family: gen2, body: bodyMultipart, scope: ingest, do: withSub(v2Ingest), status: 202},
	{method: "GET", path: "/context/status", family: gen2, scope: query, do: withSub(v2Status), request: "Status"},
	{method: "POST", path: "/context/retry", family: gen2, body: bodyJSON, scope: ingest, do: withSub(v2Retry), status: 202, tell: true},
	{method: "GET", path: "/context/inspect", family: gen2, scope: query, do: withSub(v2Inspect)},
	{method: "GET", path: "/context/chunks", family: gen2, scope: query, do: withSub(v2Chunks), tell: true},
	{method: "POST", path: "/context/list", family: gen2, body: bodyJSON, scope: query, do: withSub(v2List), request: "ListRequest"},
	{method: "PATCH", path: "/context/sources/{source_id}/metadata", family: gen2, body: bodyJSON, scope: ingest, do: withSub(v2EditMetadata), request: "EditMetadataRequest"},
	{method: "PATCH", path: "/context/{source_id}/metadata", family: gen2, body: bodyJSON, scope: ingest, do: withSub(v2EditMetadata), request: "EditMetadataRequest"},
	{method: "DELETE", path: "/context", family: gen2, body: bodyOptional, scope: ingest, do: withSub(v2Delete), unwrapRequest: true},
	{method: "GET", path: "/context/relations", family: gen2, scope: query, do: withSub(v2Relations), tell: true},
	{method: "GET", path: "/context/subgraph", family: gen2, scope: query, do: withSub(v2Subgraph), tell: true},
	{method: "GET", path: "/context/{source_id}/subgraph", family: gen2, scope: query, do: withSub(v2Subgraph), tell: true},
	{method: "POST", path: "/query", family: gen2, body: bodyJSON, scope: query, do: withSub(v2Query), request: "Recall"},
	{method: "POST", path: "/feedback", family: gen2, body: bodyJSON, scope: query, do: v2Feedback, status: 201},

	// Webhooks.
	{method: "POST", path: "/webhooks/indexing", family: webhooks, body: bodyJSON, scope: manage, do: setWebhook, status: 201, wholeOrg: true},
	{method: "GET", path: "/webhooks/indexing", family: webhooks, scope: manage, do: getWebhook, wholeOrg: true},
	{method: "DELETE", path: "/webhooks/indexing", family: webhooks, scope: manage, do: deleteWebhook, wholeOrg: true},
	{method: "POST", path: "/webhooks/indexing/test", family: webhooks, body: bodyOptional, scope: manage, do: testWebhook, wholeOrg: true},
	{method: "POST", path: "/webhooks/indexing/signing-secret", family: webhooks, body: bodyOptional, scope: manage, do: setSecret, wholeOrg: true},
	{method: "DELETE", path: "/webhooks/indexing/signing-secret", family: webhooks, scope: manage, do: deleteSecret, wholeOrg: true},
	{method: "GET", path: "/webhooks/indexing/deliveries", family: webhooks, scope: manage, do: listDeliveries, wholeOrg: true},
	{method: "GET", path: "/webhooks/indexing/deliveries/{delivery_id}", family: webhooks, scope: manage, do: getDelivery, wholeOrg: true},
	{method: "POST", path: "/webhooks/indexing/deliveries/{delivery_id}/retry", family: webhooks, body: bodyOptional, scope: manage, do: retryDelivery, wholeOrg: true},

	// Connectors.
	{method: "GET", path: "/connector-catalog", family: connectors, scope: query, do: connectorCatalog},
	{method: "POST", path: "/connector-discovery", family: connectors, body: bodyJSON, scope: manage, do: discoverWith},
	{method: "GET", path: "/connectors/providers", family: connectors, scope: query, do: connectorProviders},
	{method: "POST", path: "/connectors", family: connectors, body: bodyJSON, scope: manage, do: createConnector, status: 201},
	{method: "GET", path: "/connectors", family: connectors, scope: manage, do: listConnectors},
	{method: "GET", path: "/connectors/{connector_id}", family: connectors, scope: manage, do: getConnector},
	{method: "PATCH", path: "/connectors/{connector_id}", family: connectors, body: bodyJSON, scope: manage, do: editConnector},
	{method: "DELETE", path: "/connectors/{connector_id}", family: connectors, scope: manage, do: deleteConnector},
	{method: "PATCH", path: "/connectors/{connector_id}/credentials", family: connectors, body: bodyJSON, scope: manage, do: setCredentials},
	{method: "GET", path: "/connectors/{connector_id}/status", family: connectors, scope: manage, do: connectorStatus},
	{method: "GET", path: "/connectors/{connector_id}/discover", family: connectors, scope: manage, do: discover},
	{method: "POST", path: "/connectors/{connector_id}/configure", family: connectors, body: bodyJSON, scope: manage, do: configure},
	{method: "GET", path: "/connectors/{connector_id}/resources", family: connectors, scope: manage, do: listResources},
	{method: "POST", path: "/connectors/{connector_id}/resources", family: connectors, body: bodyJSON, scope: manage, do: addResource, status: 201},
	{method: "DELETE", path: "/connectors/{connector_id}/resources/{resource_id}", family: connectors, scope: manage, do: deleteResource},
	{method: "POST", path: "/connectors/{connector_id}/pause", family: connectors, body: bodyOptional, scope: manage, do: pauseConnector},
	{method: "POST", path: "/connectors/{connector_id}/resume", family: connectors, body: bodyOptional, scope: manage, do: resumeConnector},
	{method: "POST", path: "/connectors/{connector_id}/sync", family: connectors, body: bodyOptional, scope: manage, do: syncConnector, status: 202},
}
