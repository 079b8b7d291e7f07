package wire

import "strings"

// wireName maps the field path of a service request to the field's REST name.
type wireName struct {
	request string // request type to which the row is limited; empty: any
	path    string // path of the field; [] matches any index and * any map key
	gen1    string
	gen2    string // empty: the same as in the first generation
}

// wireNames is the only table of names. If it lacks a path, the longest parent path in the table determines the name, and
// the rest of the path is unchanged.
var wireNames = []wireName{
	// The scope.
	{"", "Org", "org_id", ""},
	{"", "Tenant", "tenant_id", "database"},
	{"", "Sub", "sub_tenant_id", "collection"},
	{"", "Class", "type", ""},
	{"", "Principals", "acl", ""},
	{"EditMetadataRequest", "ACL", "acl", ""},
	{"TenantSpec", "ID", "tenant_id", "database"},
	{"TenantSpec", "Instructions", "instructions", ""},
	{"TenantEdit", "Instructions", "instructions", ""},
	{"TenantEdit", "Tenant", "name", ""},
	{"TenantSpec", "Embeddings", "is_embeddings_tenant", ""},
	{"TenantSpec", "Dimension", "embeddings_dimension", ""},

	// The metadata schema.
	{"", "Schema", "tenant_metadata_schema", "database_metadata_schema"},
	{"", "Schema[].Name", "tenant_metadata_schema[].name", "database_metadata_schema[].name"},
	{"", "Schema[].Type", "tenant_metadata_schema[].data_type", "database_metadata_schema[].data_type"},
	{"", "Schema[].MaxLength", "tenant_metadata_schema[].max_length", "database_metadata_schema[].max_length"},
	{"", "Schema[].Match", "tenant_metadata_schema[].enable_match", "database_metadata_schema[].enable_match"},
	{"", "Schema[].Dense", "tenant_metadata_schema[].enable_dense_embedding", "database_metadata_schema[].enable_dense_embedding"},
	{"", "Schema[].Sparse", "tenant_metadata_schema[].enable_sparse_embedding", "database_metadata_schema[].enable_sparse_embedding"},
	{"", "Schema[].Required", "tenant_metadata_schema[].nullable", "database_metadata_schema[].nullable"},
	{"", "Schema[].Analyzer", "tenant_metadata_schema[].enable_analyzer", "database_metadata_schema[].enable_analyzer"},
	{"schemaEdit", "Fields", "add_fields", ""},
	{"schemaEdit", "Fields[].Name", "add_fields[].name", ""},
	{"schemaEdit", "Fields[].Type", "add_fields[].data_type", ""},
	{"schemaEdit", "Fields[].MaxLength", "add_fields[].max_length", ""},
	{"schemaEdit", "Fields[].Match", "add_fields[].enable_match", ""},
	{"schemaEdit", "Fields[].Dense", "add_fields[].enable_dense_embedding", ""},
	{"schemaEdit", "Fields[].Sparse", "add_fields[].enable_sparse_embedding", ""},
	{"schemaEdit", "Fields[].Required", "add_fields[].nullable", ""},
	{"schemaEdit", "Fields[].Analyzer", "add_fields[].enable_analyzer", ""},

	// Recall.
	{"", "Query", "query", ""},
	{"", "MaxResults", "max_results", ""},
	{"", "Mode", "mode", ""},
	{"", "Alpha", "alpha", ""},
	{"", "RecencyBias", "recency_bias", ""},
	{"", "GraphContext", "graph_context", ""},
	{"Recall", "Apps", "search_apps", "query_apps"},
	{"Recall", "ForcefulRelations", "search_forceful_relations", "query_forceful_relations"},
	{"", "SkipForcefulRelations", "search_forceful_relations", "query_forceful_relations"},
	{"", "Hint", "additional_context", ""},
	{"", "Filters", "metadata_filters", ""},
	{"", "Filters.Metadata", "metadata_filters", ""},
	{"", "Filters.Additional", "metadata_filters.additional_metadata", ""},
	{"", "Filters.Strict", "strict_filters", ""},
	{"", "Titles", "titles", ""},
	{"", "RelatedChunks", "num_related_chunks", ""},
	{"", "Subs", "collections", ""},
	{"", "AsOf", "as_of", ""},
	{"", "Superseded", "superseded", ""},
	{"", "PerSource", "per_source", ""},
	{"", "MinRelevance", "min_relevance", ""},
	{"", "KnownAt", "known_at", ""},
	{"", "Temporal", "temporal_intent", ""},
	{"", "Temporal.Now", "temporal_now", ""},
	{"", "Temporal.Mode", "temporal_intent.mode", ""},
	{"", "Temporal.Start", "temporal_intent.window_start", ""},
	{"", "Temporal.End", "temporal_intent.window_end", ""},
	{"", "Temporal.Events", "temporal_intent.event_phrases", ""},
	{"", "Temporal.DurationToNow", "temporal_intent.duration_to_now", ""},
	{"", "Operator", "operator", ""},

	// Items.
	{"", "ID", "source_id", "id"},
	{"", "IDs", "ids", ""},
	{"Status", "IDs", "file_ids", "ids"},
	{"", "FailIfExists", "upsert", ""},
	{"", "SkipUnsupported", "skip_unsupported", ""},
	{"", "SkipUnchanged", "skip_unchanged", ""},
	{"", "Original", "original", ""},
	{"", "Instructions", "custom_instructions", ""},
	{"", "Metadata", "metadata", ""},
	{"", "Additional", "additional_metadata", ""},
	{"", "Memories", "memories", ""},
	{"", "Memories[].ID", "memories[].source_id", "memories[].id"},
	{"", "Memories[].Text", "memories[].text", ""},
	{"", "Memories[].Markdown", "memories[].is_markdown", ""},
	{"", "Memories[].Pairs", "memories[].user_assistant_pairs", ""},
	{"", "Memories[].Pairs[].User", "memories[].user_assistant_pairs[].user", ""},
	{"", "Memories[].Pairs[].Assistant", "memories[].user_assistant_pairs[].assistant", ""},
	{"", "Memories[].Messages", "memories[].messages", ""},
	{"", "Memories[].Messages[].Role", "memories[].messages[].role", ""},
	{"", "Memories[].Messages[].Name", "memories[].messages[].name", ""},
	{"", "Memories[].Messages[].Text", "memories[].messages[].content", ""},
	{"", "Memories[].Messages[].Time", "memories[].messages[].timestamp", ""},
	{"", "Memories[].EachMessage", "memories[].each_message", ""},
	{"", "Memories[].Infer", "memories[].infer", ""},
	{"", "Memories[].Title", "memories[].title", ""},
	{"", "Memories[].UserName", "memories[].user_name", ""},
	{"", "Memories[].TTL", "memories[].expiry_time", ""},
	{"", "Memories[].Instructions", "memories[].custom_instructions", ""},
	{"", "Memories[].Metadata", "memories[].metadata", ""},
	{"", "Memories[].Additional", "memories[].additional_metadata", ""},
	{"", "Memories[].ForcefulRelations", "memories[].relations", ""},
	{"", "Memories[].ForcefulRelations.IDs", "memories[].relations.ids", ""},
	{"", "Memories[].ForcefulRelations.Properties", "memories[].relations.properties", ""},
	{"", "Memories[].Time", "memories[].observation_date", ""},
	{"", "Memories[].Session", "memories[].metadata.session_id", ""},
	{"", "Files", "files", "documents"},
	{"", "Files[].ID", "files[].id", "documents[].id"},
	{"", "Files[].Name", "files[].filename", "documents[].filename"},
	{"", "Files[].ContentType", "files[].content_type", "documents[].content_type"},
	{"", "Files[].Data", "files[]", "documents[]"},
	{"", "Files[].Open", "files[]", "documents[]"},
	{"", "Files[].Title", "files[].title", "documents[].title"},
	{"", "Files[].Kind", "files[].type", "documents[].type"},
	{"", "Files[].URL", "files[].url", "documents[].url"},
	{"", "Files[].Description", "files[].description", "documents[].description"},
	{"", "Files[].Time", "files[].timestamp", "documents[].timestamp"},
	{"", "Files[].Metadata", "files[].metadata", "documents[].metadata"},
	{"", "Files[].Additional", "files[].additional_metadata", "documents[].additional_metadata"},
	{"", "Files[].ACL", "files[].acl", "documents[].acl"},
	{"", "Files[].ForcefulRelations", "files[].relations", "documents[].relations"},
	{"", "Files[].ForcefulRelations.IDs", "files[].relations.ids", "documents[].relations.ids"},
	{"", "Files[].ForcefulRelations.Properties", "files[].relations.properties", "documents[].relations.properties"},
	{"", "Apps", "app_knowledge", ""},
	{"", "Apps[].ID", "app_knowledge[].id", ""},
	{"", "Apps[].Title", "app_knowledge[].title", ""},
	{"", "Apps[].Type", "app_knowledge[].type", ""},
	{"", "Apps[].Kind", "app_knowledge[].kind", ""},
	{"", "Apps[].Provider", "app_knowledge[].provider", ""},
	{"", "Apps[].ExternalID", "app_knowledge[].external_id", ""},
	{"", "Apps[].ParentExternalID", "app_knowledge[].parent_external_id", ""},
	{"", "Apps[].ThreadID", "app_knowledge[].thread_id", ""},
	{"", "Apps[].Description", "app_knowledge[].description", ""},
	{"", "Apps[].Note", "app_knowledge[].note", ""},
	{"", "Apps[].URL", "app_knowledge[].url", ""},
	{"", "Apps[].Timestamp", "app_knowledge[].timestamp", ""},
	{"", "Apps[].Fields", "app_knowledge[].fields", ""},
	{"", "Apps[].Content", "app_knowledge[].content", ""},
	{"", "Apps[].Content.Text", "app_knowledge[].content.text", ""},
	{"", "Apps[].Content.Markdown", "app_knowledge[].content.markdown", ""},
	{"", "Apps[].Content.HTMLBase64", "app_knowledge[].content.html_base64", ""},
	{"", "Apps[].Content.CSVBase64", "app_knowledge[].content.csv_base64", ""},
	{"", "Apps[].Content.Files", "app_knowledge[].content.files", ""},
	{"", "Apps[].Content.Layout", "app_knowledge[].content.layout", ""},
	{"", "Apps[].Attachments", "app_knowledge[].attachments", ""},
	{"", "Apps[].Comments", "app_knowledge[].comments", ""},
	{"", "Apps[].Metadata", "app_knowledge[].metadata", ""},
	{"", "Apps[].Additional", "app_knowledge[].additional_metadata", ""},
	{"", "Apps[].Meta", "app_knowledge[].meta", ""},
	{"", "Apps[].ACL", "app_knowledge[].acl", ""},
	{"", "Apps[].ForcefulRelations", "app_knowledge[].relations", ""},
	{"", "Apps[].ForcefulRelations.IDs", "app_knowledge[].relations.ids", ""},
	{"", "Apps[].ForcefulRelations.Properties", "app_knowledge[].relations.properties", ""},
	{"", "*[].ForcefulRelations.Links", "*[].relations", ""},
	{"", "*[].ForcefulRelations.Links[].Predicate", "*[].relations[].predicate", ""},
	{"", "*[].ForcefulRelations.Links[].TargetID", "*[].relations[].target.id", ""},
	{"", "*[].ForcefulRelations.Links[].Provider", "*[].relations[].target.provider", ""},
	{"", "*[].ForcefulRelations.Links[].ExternalID", "*[].relations[].target.external_id", ""},
	{"", "*[].ForcefulRelations.Links[].Properties", "*[].relations[].properties", ""},
	{"", "Graphs", "graph_payload", ""},
	{"", "Graphs.*.Entities", "graph_payload.*.entities", ""},
	{"", "Graphs.*.Entities.*.Name", "graph_payload.*.entities.*.name", ""},
	{"", "Graphs.*.Entities.*.Type", "graph_payload.*.entities.*.type", ""},
	{"", "Graphs.*.Entities.*.Namespace", "graph_payload.*.entities.*.namespace", ""},
	{"", "Graphs.*.Entities.*.Identifier", "graph_payload.*.entities.*.identifier", ""},
	{"", "Graphs.*.Relations", "graph_payload.*.relations", ""},
	{"", "Graphs.*.Relations[].Source", "graph_payload.*.relations[].source", ""},
	{"", "Graphs.*.Relations[].Target", "graph_payload.*.relations[].target", ""},
	{"", "Graphs.*.Relations[].Predicate", "graph_payload.*.relations[].predicate", ""},
	{"", "Graphs.*.Relations[].Context", "graph_payload.*.relations[].context", ""},
	{"", "Graphs.*.Relations[].Temporal", "graph_payload.*.relations[].temporal_details", ""},
	{"", "Expiry", "expiry_seconds", ""},
	{"ListRequest", "IDs", "source_ids", "ids"},
	{"", "Page", "page", ""},
	{"", "PageSize", "page_size", ""},
	{"ListRequest", "Filters", "filters", ""},
	{"ListRequest", "Filters.Metadata", "filters.metadata", ""},
	{"ListRequest", "Filters.Additional", "filters.additional_metadata", ""},
	{"ListRequest", "Filters.Strict", "strict_filters", ""},
	{"ListRequest", "Fields", "filters.source_fields", ""},
	{"ListRequest", "Fields.Title", "filters.source_fields.title", ""},
	{"ListRequest", "Fields.Kind", "filters.source_fields.type", ""},
	{"ListRequest", "Fields.Description", "filters.source_fields.description", ""},
	{"ListRequest", "Fields.URL", "filters.source_fields.url", ""},
	{"ListRequest", "Fields.Timestamp", "filters.source_fields.timestamp", ""},
	{"ListRequest", "Fields.AppKind", "filters.source_fields.app_kind", ""},
	{"ListRequest", "Fields.AppProvider", "filters.source_fields.app_provider", ""},
	{"ListRequest", "Fields.AppExternalID", "filters.source_fields.app_external_id", ""},
	{"ListRequest", "Fields.AppParentExternalID", "filters.source_fields.app_parent_id", ""},
	{"ListRequest", "Content", "include_fields", ""},
	{"EditMetadataRequest", "ID", "source_id", ""},

	// The graph.
	{"", "SourceID", "source_id", "id"},
	{"", "Limit", "limit", ""},
	{"", "Cursor", "cursor", ""},
	{"", "Depth", "depth", ""},
	{"", "MaxSources", "max_sources", ""},

	// Facts, entities and profiles.
	{"", "Subject", "subject", ""},
	{"", "Predicate", "predicate", ""},
	{"", "Slot", "slot", ""},
	{"", "Question", "question", ""},
	{"", "Upcoming", "upcoming", ""},
	{"", "History", "history", ""},
	{"", "Slots", "slots", ""},
	{"", "PerSlot", "per_slot", ""},
	{"", "MaxTokens", "max_tokens", ""},
	{"", "Session", "session_id", ""},
	{"Matching", "Filters", "filters", ""},
	{"Matching", "Filters.Metadata", "filters", ""},
	{"Matching", "Filters.Additional", "filters.additional_metadata", ""},
	{"EraseRequest", "User", "user_name", ""},
	{"EraseRequest", "All", "all", ""},
	{"RestoreVersionRequest", "Version", "version", ""},
	{"MergeEntitiesRequest", "From", "from", ""},
	{"MergeEntitiesRequest", "Into", "into", ""},
	{"MergeEntitiesRequest", "Reason", "reason", ""},
	{"MemoryEdit", "Text", "text", ""},
	{"MemoryEdit", "Messages", "messages", ""},
	{"MemoryEdit", "Messages[].Role", "messages[].role", ""},
	{"MemoryEdit", "Messages[].Name", "messages[].name", ""},
	{"MemoryEdit", "Messages[].Text", "messages[].content", ""},
	{"MemoryEdit", "Messages[].Time", "messages[].timestamp", ""},
	{"MemoryEdit", "Title", "title", ""},
	{"MemoryEdit", "UserName", "user_name", ""},
	{"MemoryEdit", "TTL", "expiry_time", ""},
	{"MemoryEdit", "Time", "timestamp", ""},

	// Embeddings.
	{"", "Upsert", "upsert", ""},
	{"", "Sources", "embeddings", ""},
	{"", "Sources[].SourceID", "embeddings[].source_id", ""},
	{"", "Sources[].Metadata", "embeddings[].metadata", ""},
	{"", "Sources[].Vectors", "embeddings[].embeddings", ""},
	{"", "Sources[].Vectors[].ChunkID", "embeddings[].embeddings[].chunk_id", ""},
	{"", "Sources[].Vectors[].Vector", "embeddings[].embeddings[].embedding", ""},
	{"", "Vector", "query_embedding", ""},
	{"SearchVectorsRequest", "Metadata", "filter_expr", ""},
	{"SearchVectorsRequest", "Recall", "recall", ""},
	{"SearchVectorsRequest", "Exact", "exact", ""},
	{"", "WithVectors", "output_fields", ""},
	{"", "ChunkIDs", "chunk_ids", ""},

	// Keys, feedback and webhooks.
	{"", "Owner", "owner", ""},
	{"", "Scopes", "scopes", ""},
	{"", "Tenants", "tenants", ""},
	{"", "Env", "env", ""},
	{"", "Prefix", "prefix", ""},
	{"", "TTL", "ttl", ""},
	{"", "RequestID", "request_id", ""},
	{"", "Text", "feedback", ""},
	{"", "Rating", "rating", ""},
	{"", "Source", "source", ""},
	{"", "GroundTruth", "ground_truth", ""},
	{"", "GroundTruth.Answer", "ground_truth.answer", ""},
	{"", "GroundTruth.SourceIDs", "ground_truth.source_ids", ""},
	{"", "URL", "url", ""},
	{"", "EventTypes", "event_types", ""},
	{"", "Secret", "signing_secret", ""},
	{"", "GenerateSecret", "generate_signing_secret", ""},
	{"", "Status", "status", ""},

	// Connectors.
	{"", "Provider", "provider", ""},
	{"", "Name", "name", ""},
	{"", "AccountScope", "provider_account_scope", ""},
	{"", "AuthType", "auth_type", ""},
	{"", "Credentials", "credentials", ""},
	{"", "DeploymentID", "deployment_id", ""},
	{"", "Plan", "plan", ""},
	{"", "SyncEngine", "sync_engine", ""},
	{"", "Interval", "sync_interval_seconds", ""},
	{"", "UserID", "user_id", ""},
	{"", "Resources", "resources", ""},
	{"", "Resources[].ResourceID", "resources[].resource_id", ""},
	{"", "Resources[].Type", "resources[].resource_type", ""},
	{"", "Resources[].Name", "resources[].display_name", ""},
	{"", "Resources[].Paused", "resources[].status", ""},
	{"", "Resources[].Filters", "resources[].filters", ""},
	{"", "Resources[].Metadata", "resources[].metadata", ""},
	{"", "Resources[].Additional", "resources[].additional_metadata", ""},
	{"", "Resources[].ProviderMetadata", "resources[].provider_metadata", ""},
	{"", "Resources[].TenantOverride", "resources[].database_override", ""},
	{"", "Resources[].SubOverride", "resources[].collection_override", ""},
	{"", "Resources[].SyncMode", "resources[].sync_mode", ""},
	{"", "Resources[].LookbackDays", "resources[].lookback_days", ""},
	{"", "Resources[].BackfillInterval", "resources[].backfill_chunk_interval_seconds", ""},
	{"", "Resources[].ACL", "resources[].acl", ""},
	{"", "Resources[].Instructions", "resources[].instructions", ""},

	// Names that are the same in Go and in one generation.
	{"", "schema", "tenant_metadata_schema", "database_metadata_schema"},
	{"", "tenant_id", "tenant_id", "database"},
	{"", "sub_tenant_id", "sub_tenant_id", "collection"},
	{"", "files", "files", "documents"},
}

// Field returns the REST name of a field of a service request. first selects the names of the first generation.
func Field(field, request string, first bool) string {
	given := strings.Split(field, ".")
	best, taken := wireName{}, 0
	for _, n := range wireNames {
		path := strings.Split(n.path, ".")
		if n.request != "" && n.request != request || !leads(path, given) {
			continue
		}
		if len(path) > taken || len(path) == taken && n.request != "" {
			best, taken = n, len(path)
		}
	}
	if taken == 0 {
		return field
	}
	name := best.gen1
	if !first && best.gen2 != "" {
		name = best.gen2
	}
	for i, p := range strings.Split(best.path, ".") {
		own, index, found := strings.Cut(given[i], "[")
		switch p {
		case "*":
			name = strings.Replace(name, "*", own, 1)
		case "*[]":
			name = strings.Replace(name, "*", Field(own, request, first), 1)
		}
		switch {
		case strings.HasSuffix(p, "[]"):
			name = strings.Replace(name, "[]", "["+index, 1)
		case found: // the path of the row ends before the index
			name += "[" + index
		}
	}
	return strings.Join(append([]string{name}, given[taken:]...), ".")
}

// leads reports whether a path of the table matches a prefix of a field's path. The path may end before an index.
func leads(path, given []string) bool {
	if len(path) > len(given) {
		return false
	}
	for i, p := range path {
		name, indexed := strings.CutSuffix(p, "[]")
		own, index, _ := strings.Cut(given[i], "[")
		if name != "*" && name != own || indexed != (index != "") && i < len(path)-1 || indexed && index == "" {
			return false
		}
	}
	return true
}
