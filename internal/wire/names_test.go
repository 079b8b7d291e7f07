package wire

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
)

// requestTypes are the service requests made by routes, by their name in wireNames.
var requestTypes = map[string]any{
	"Recall": contextmem.Recall{}, "TextQuery": contextmem.BooleanRecallRequest{}, "TenantSpec": contextmem.TenantSpec{}, "MemoryBatch": contextmem.MemoryBatch{}, "KnowledgeBatch": contextmem.KnowledgeBatch{},
	"FetchRequest": contextmem.FetchRequest{}, "ListRequest": contextmem.ListRequest{}, "EditMetadataRequest": contextmem.EditMetadataRequest{}, "DeleteItemsRequest": contextmem.DeleteItemsRequest{},
	"RelationsRequest": contextmem.GraphRelationsRequest{}, "SubgraphRequest": contextmem.SubgraphRequest{}, "InsertVectorsRequest": contextmem.InsertVectorsRequest{}, "SearchVectorsRequest": contextmem.SearchVectorsRequest{},
	"VectorSelection": contextmem.VectorSelection{}, "KeySpec": contextmem.KeySpec{}, "WebhookSpec": contextmem.WebhookSpec{}, "DeliveriesRequest": contextmem.DeliveriesRequest{},
	"ConnectorSpec": contextmem.ConnectorSpec{}, "ConnectorEdit": contextmem.ConnectorEdit{}, "DiscoverRequest": contextmem.DiscoverRequest{}, "Feedback": contextmem.Feedback{}, "EraseRequest": contextmem.EraseRequest{}, "RestoreVersionRequest": content.RestoreVersionRequest{}, "MergeEntitiesRequest": contextmem.MergeEntitiesRequest{},
	"schemaEdit": struct{ Fields []contextmem.Field }{}, "configure": struct {
		Resources []contextmem.ConnectorResource
	}{}, "Status": struct{ IDs []string }{},
}

// notSent are fields that no REST request sets: results, callbacks, fields that follow from the route, and fields of
// the library only.
var notSent = []string{"Rejected", "Missing", "Statuses", "After", "Before", "Progress", "KeepIndexing", "ParsedText", "CreatedAt", "Known", "Apps[].Fault",
	"Resources[].ConnectorID", "Resources[].Status", "Resources[].Cursor", "Resources[].BackfillOldest", "Resources[].BackfillStatus", "Resources[].BackfillNext",
	"Resources[].LastStatus", "Resources[].LastError", "Resources[].LastRows"}

// fieldPaths lists the paths of the exported fields of a request type.
func fieldPaths(t reflect.Type, at string) []string {
	switch t.Kind() {
	case reflect.Pointer:
		return fieldPaths(t.Elem(), at)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct {
			return append([]string{at}, fieldPaths(t.Elem(), at+"[]")...)
		}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Struct {
			return append([]string{at}, fieldPaths(t.Elem(), at+".*")...)
		}
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[contextmem.Alpha]() {
			break
		}
		var out []string
		for i := range t.NumField() {
			f := t.Field(i)
			switch {
			case !f.IsExported():
			case at == "":
				out = append(out, fieldPaths(f.Type, f.Name)...)
			default:
				out = append(out, fieldPaths(f.Type, at+"."+f.Name)...)
			}
		}
		return append([]string{at}, out...)
	}
	return []string{at}
}

// TestEveryFieldHasAWireName checks that every exported field of every request has its own row in the table of names.
func TestEveryFieldHasAWireName(t *testing.T) {
	t.Parallel()
	for request, v := range requestTypes {
		t.Run(request, func(t *testing.T) {
			t.Parallel()
			for _, path := range fieldPaths(reflect.TypeOf(v), "") {
				if path == "" || slices.Contains(notSent, path) || path[len(path)-1] == ']' || path[len(path)-1] == '*' {
					continue
				}
				i := slices.IndexFunc(wireNames, func(n wireName) bool {
					return (n.request == "" || n.request == request) && (n.path == path || n.path == starred(path))
				})
				assert.GreaterOrEqual(t, i, 0, "%s has no name", path)
			}
		})
	}
}

// starred returns the path with a star for the name of its first list, so that paths of all lists compare equal.
func starred(path string) string {
	for _, list := range []string{"Memories", "Files", "Apps"} {
		if len(path) > len(list) && path[:len(list)] == list {
			return "*" + path[len(list):]
		}
	}
	return path
}

func TestField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ request, path, first, second string }{
		{"", "", "", ""},
		{"", "Memories[2].Text", "memories[2].text", "memories[2].text"},
		{"", "Memories[2].ID", "memories[2].source_id", "memories[2].id"},
		{"", "Memories[0].Pairs[3].User", "memories[0].user_assistant_pairs[3].user", "memories[0].user_assistant_pairs[3].user"},
		{"", "Memories[0].Metadata.year", "memories[0].metadata.year", "memories[0].metadata.year"},
		{"", "Memories[1].ForcefulRelations.Links[4].TargetID", "memories[1].relations[4].target.id", "memories[1].relations[4].target.id"},
		{"", "Files[1].ForcefulRelations.Links", "files[1].relations", "documents[1].relations"},
		{"", "Files[1]", "files[1]", "documents[1]"},
		{"", "Files[1].Data", "files[1]", "documents[1]"},
		{"", "Graphs.k1.Entities.h.Name", "graph_payload.k1.entities.h.name", "graph_payload.k1.entities.h.name"},
		{"Recall", "Filters.Metadata.year", "metadata_filters.year", "metadata_filters.year"},
		{"Recall", "Filters.Metadata", "metadata_filters", "metadata_filters"},
		{"ListRequest", "Filters.Metadata.year", "filters.metadata.year", "filters.metadata.year"},
		{"Recall", "Apps", "search_apps", "query_apps"},
		{"", "Apps", "app_knowledge", "app_knowledge"},
		{"", "Apps[0].Content", "app_knowledge[0].content", "app_knowledge[0].content"},
		{"", "Schema[3].Dense", "tenant_metadata_schema[3].enable_dense_embedding", "database_metadata_schema[3].enable_dense_embedding"},
		{"schemaEdit", "Fields[1].Name", "add_fields[1].name", "add_fields[1].name"},
		{"TenantSpec", "ID", "tenant_id", "database"},
		{"", "ID", "source_id", "id"},
		{"", "Tenant", "tenant_id", "database"},
		{"", "Sub", "sub_tenant_id", "collection"},
		{"", "IDs[7]", "ids[7]", "ids[7]"},
		{"Recall", "Hint", "additional_context", "additional_context"},
		{"", "schema[0].data_type", "tenant_metadata_schema[0].data_type", "database_metadata_schema[0].data_type"},
		{"", "files[0].id", "files[0].id", "documents[0].id"},
		{"", "tenant_id", "tenant_id", "database"},
		{"", "metadata_filters.year", "metadata_filters.year", "metadata_filters.year"},
		{"", "nothing.known", "nothing.known", "nothing.known"},
	} {
		t.Run(c.request, func(t *testing.T) {
			assert.Equal(t, c.first, Field(c.path, c.request, true), c.path)
			assert.Equal(t, c.second, Field(c.path, c.request, false), c.path)
		})
	}
}

// TestLibraryField checks that the name of each field leads back to it, or to a field that contains it and has the same name.
func TestLibraryField(t *testing.T) {
	t.Parallel()
	open := strings.NewReplacer("[]", "[3]", "*", "k")
	exact, all := 0, 0
	for request, v := range requestTypes {
		of := reflect.TypeOf(v)
		if of.Name() == "" { // of a route's own
			continue
		}
		for _, path := range fieldPaths(of, "") {
			if path == "" || slices.Contains(notSent, path) || path[len(path)-1] == '*' {
				continue
			}
			path = open.Replace(path)
			name := Field(path, of.Name(), false)
			back := LibraryField(name, of)
			assert.Equal(t, name, Field(back, of.Name(), false), "%s: %s became %s", request, path, back)
			if all++; back == path {
				exact++
			}
		}
	}
	t.Logf("%d of %d lead back to themselves", exact, all)
	for _, c := range []struct {
		of         any
		name, want string
	}{
		{contextmem.MemoryBatch{}, "memories[2].text", "Memories[2].Text"},
		{contextmem.MemoryBatch{}, "memories[0].user_assistant_pairs[3].user", "Memories[0].Pairs[3].User"},
		{contextmem.MemoryBatch{}, "memories[0].metadata.year", "Memories[0].Metadata.year"},
		{contextmem.MemoryBatch{}, "memories[1].relations[4].target.id", "Memories[1].ForcefulRelations.Links[4].TargetID"},
		{contextmem.KnowledgeBatch{}, "documents[1].relations[4].target.id", "Files[1].ForcefulRelations.Links[4].TargetID"},
		{contextmem.KnowledgeBatch{}, "documents[0].id", "Files[0].ID"},
		{contextmem.Recall{}, "max_results", "MaxResults"},
		{contextmem.Recall{}, "metadata_filters.year", "Filters.year"},
		{contextmem.ListRequest{}, "filters.metadata.year", "Filters.Metadata.year"},
		{contextmem.ListRequest{}, "ids[7]", "IDs[7]"},
		{contextmem.TenantSpec{}, "database", "ID"},
		{contextmem.FetchRequest{}, "id", "ID"},
		{contextmem.SubgraphRequest{}, "id", "SourceID"},
		{contextmem.EraseRequest{}, "user_name", "User"},
		{contextmem.Recall{}, "nothing.known", "nothing.known"},
	} {
		assert.Equal(t, c.want, LibraryField(c.name, reflect.TypeOf(c.of)), c.name)
	}
	field, rest := CutField(`field "memories[0].text": is "required"`)
	assert.Equal(t, []string{"memories[0].text", `is "required"`}, []string{field, rest})
	field, rest = CutField(`tenant "x" not found`)
	assert.Equal(t, []string{"", `tenant "x" not found`}, []string{field, rest})
}
