package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// ext sends a request to an extension route and returns the data of the answer.
func ext(t *testing.T, f *fixture, method, path, body string) map[string]any {
	t.Helper()
	w := f.do(t, method, path, body)
	require.Less(t, w.Code, 300, "%s %s: %s", method, path, w.Body)
	var e struct {
		Data    map[string]any
		Success bool
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &e))
	require.True(t, e.Success)
	return e.Data
}

const scopeOfAnna = `"database": "acme", "collection": "anna"`

// rememberAnna stores the items of the tests.
func rememberAnna(t *testing.T, f *fixture) {
	t.Helper()
	d := ext(t, f, "POST", "/ext/remember", `{`+scopeOfAnna+`, "memories": [
		{"source_id": "a", "infer": true, "user_name": "Anna", "observation_date": "2024-03-01", "text": "I live in Oslo.", "metadata": {"department": "x"}},
		{"source_id": "b", "infer": true, "user_name": "Anna", "observation_date": "2024-03-02", "text": "I moved to Lisbon."},
		{"source_id": "c", "infer": true, "user_name": "Anna", "observation_date": "2024-03-03", "text": "Always answer in French.", "additional_metadata": {"session_id": "s"}},
		{"source_id": "d", "user_name": "Anna", "observation_date": "2024-03-04", "additional_metadata": {"session_id": "s"},
		 "messages": [{"role": "user", "content": "I sail."}, {"role": "assistant", "content": "Where?"}]}]}`)
	require.Equal(t, true, d["completed"])
	require.Len(t, d["results"], 4)
}

// TestUnknownMembersAreTold checks that members which no field has are named in the warnings of the answer, inside of items too.
func TestUnknownMembersAreTold(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	told := func(w *httptest.ResponseRecorder) (fields []string) {
		require.Less(t, w.Code, 300, w.Body)
		var e struct {
			Meta struct {
				Warnings []struct{ Code, Field, Message string }
			}
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &e))
		for _, x := range e.Meta.Warnings {
			require.Equal(t, "unknown_field", x.Code)
			require.Contains(t, x.Message, x.Field)
			fields = append(fields, x.Field)
		}
		return fields
	}
	one := `{"source_id": "m", "text": "I sail.", "session_id": "s", "additional_metadata": {"anything": {"may": "be here"}}}`
	assert.Equal(t, []string{"memories[0].session_id"}, told(f.do(t, "POST", "/ext/remember", `{`+scopeOfAnna+`, "memories": [`+one+`]}`)))
	assert.Equal(t, []string{"memories[1].messages[0].txt", "timeout"}, told(f.do(t, "POST", "/ext/remember",
		`{`+scopeOfAnna+`, "timeout": 3, "memories": [{"text": "I ski."}, {"messages": [{"role": "user", "content": "I row.", "txt": "x"}]}]}`)))
	assert.Equal(t, []string{"titel"}, told(f.do(t, "PATCH", "/ext/memories/m", `{`+scopeOfAnna+`, "text": "I ski.", "titel": "x"}`)))
	assert.Equal(t, []string{"max"}, told(f.do(t, "GET", "/ext/sessions?database=acme&collection=anna&max=3", "")))
	assert.Empty(t, told(f.do(t, "POST", "/ext/facts", `{"tenant_id": "acme", "sub_tenant_id": "anna", "subject": "anna"}`)), "the older names of the scope are known")
	many := `{"text": "I sing.", ` + strings.Repeat(`"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, `, 10) + `"f": 6}`
	assert.Len(t, told(f.do(t, "POST", "/ext/remember", `{`+scopeOfAnna+`, "memories": [`+strings.Repeat(many+",", 9)+many+`]}`)), maxUnknown)
	assert.Equal(t, []string{"memories[0].session_id"}, told(f.send(t, "POST", "/context/ingest", url.Values{"database": {"acme"}, "type": {"memory"}, "memories": {"[" + one + "]"}}.Encode(),
		"Content-Type", "application/x-www-form-urlencoded")))
}

// TestErrorsNameWhatIsWrong checks the status and the message of requests that are wrong in ways a caller cannot guess.
func TestErrorsNameWhatIsWrong(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	scope := `{` + scopeOfAnna + `}`
	for _, x := range []struct {
		method, target, body string
		code                 int
		says                 string
	}{
		{"GET", "/ext/sessions?database=acme&limit=99999999999", "", 400, `field \"limit\": is out of range`},
		{"GET", "/ext/sessions?database=acme&limit=many", "", 400, `field \"limit\": must be an integer`},
		{"POST", "/ext/memories/none/restore", scope, 404, `"memory not found"`},
		{"DELETE", "/ext/keys/none", "", 404, `"key not found"`},
		{"POST", "/ext/keys", `{"database": "acme"}`, 400, `field \"database\": is not a field of a key`},
		{"PATCH", "/ext/keys/none", `{"expires": 60}`, 400, `field \"expires\": is not a field of a key`},
		{"POST", "/ext/delete", scope, 400, `field \"filters\": is required, or a session`},
		{"PATCH", "/ext/databases/acme", `{}`, 400, `field \"name\": is required, or instructions`},
		{"POST", "/ext/remember", `{` + scopeOfAnna + `, "memories": [{}]}`, 422, `text, messages or pairs (over REST user_assistant_pairs) is required`},
		{"POST", "/embeddings/insert_raw_embeddings", `{"tenant_id": "acme"}`, 400, `field \"embeddings\": is required`},
		{"POST", "/embeddings/search_raw_embeddings", `{"tenant_id": "acme", "query_embedding": null}`, 400, `field \"query_embedding\": is required`},
		{"POST", "/embeddings/search_raw_embeddings", `{"tenant_id": "acme", "query_embedding": "x"}`, 422, `INVALID_EMBEDDING_FORMAT`},
	} {
		w := f.do(t, x.method, x.target, x.body)
		assert.Equal(t, x.code, w.Code, "%s %s %s", x.method, x.target, x.body)
		assert.Contains(t, w.Body.String(), x.says, "%s %s %s", x.method, x.target, x.body)
	}
}

// TestExtensionsSayWhatTheyNeed checks that the document of the extensions requires the fields without which a route answers 400.
func TestExtensionsSayWhatTheyNeed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	type schema struct{ Required []string }
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Required bool
			}
			RequestBody struct {
				Content map[string]struct{ Schema schema }
			}
		}
	}
	require.NoError(t, json.Unmarshal(f.do(t, "GET", "/ext/openapi.json", "").Body.Bytes(), &doc))
	needed := map[string][]string{}
	for path, ops := range doc.Paths {
		for method, op := range ops {
			method = strings.ToUpper(method)
			required := op.RequestBody.Content["application/json"].Schema.Required
			for _, p := range op.Parameters {
				if p.Required && p.In == "query" {
					required = append(required, p.Name)
				}
			}
			target := strings.NewReplacer("{database}", "acme", "{", "", "}", "").Replace(path)
			for _, name := range required {
				if name == "database" {
					continue
				}
				needed[method+" "+path] = append(needed[method+" "+path], name)
				query, body := "?database=acme", ""
				if len(op.RequestBody.Content) > 0 {
					given := map[string]string{"database": "acme"}
					for _, other := range required {
						if other != name && other != "database" {
							given[other] = "x"
						}
					}
					b, err := json.Marshal(given)
					require.NoError(t, err)
					query, body = "", string(b)
				}
				w := f.do(t, method, target+query, body)
				assert.Equal(t, http.StatusBadRequest, w.Code, "%s %s", method, path)
				assert.Contains(t, w.Body.String(), `field \"`+name+`\": is required`, "%s %s", method, path)
			}
		}
	}
	assert.Equal(t, map[string][]string{"POST /ext/context": {"query"}, "POST /ext/remember": {"memories"}, "POST /ext/memories/{source_id}/supersede": {"by"},
		"POST /ext/items/{source_id}/restore": {"version"}, "GET /ext/sessions/messages": {"session_id"},
		"POST /ext/entities/merges": {"from", "into"}}, needed)
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	rememberAnna(t, f)
	get := func(path string) map[string]any {
		return ext(t, f, "GET", path+"database=acme&collection=anna", "")
	}
	of := func(rows any, member string) (out []string) {
		for _, r := range rows.([]any) {
			out = append(out, strings.ToLower(fmt.Sprint(r.(map[string]any)[member])))
		}
		return out
	}

	d := ext(t, f, "POST", "/ext/facts", `{`+scopeOfAnna+`, "subject": "anna", "slot": "home"}`)
	assert.Equal(t, []string{"lisbon"}, of(d["facts"], "object"))
	d = ext(t, f, "POST", "/ext/facts", `{`+scopeOfAnna+`, "subject": "anna", "question": "Where do I live?", "history": true, "limit": 1}`)
	assert.Equal(t, []any{"home", []string{"superseded"}}, []any{d["slot"], of(d["facts"], "status")})
	d = ext(t, f, "POST", "/ext/facts", `{`+scopeOfAnna+`, "subject": "anna", "slot": "home", "history": true, "cursor": "`+d["next_cursor"].(string)+`"}`)
	assert.Equal(t, []string{"lisbon"}, of(d["facts"], "object"))

	d = ext(t, f, "POST", "/ext/facts", `{`+scopeOfAnna+`, "subject": "anna", "slot": "home", "history": true}`)
	oslo := d["facts"].([]any)[0].(map[string]any)["id"].(string)
	d = ext(t, f, "POST", "/ext/facts/"+oslo+"/restore", `{`+scopeOfAnna+`}`)
	assert.Equal(t, []any{"current", "", true}, []any{d["status"], d["superseded_by"], d["restored_at"] != ""})
	d = ext(t, f, "POST", "/ext/facts", `{`+scopeOfAnna+`, "subject": "anna", "slot": "home"}`)
	assert.Equal(t, []string{"oslo", "lisbon"}, of(d["facts"], "object"))
	assert.Equal(t, http.StatusConflict, f.do(t, "POST", "/ext/facts/"+oslo+"/restore", `{`+scopeOfAnna+`}`).Code)
	assert.Equal(t, http.StatusNotFound, f.do(t, "POST", "/ext/facts/"+oslo+"/restore", `{`+scopeOfAnna+`, "type": "knowledge"}`).Code)
	assert.Equal(t, http.StatusNotFound, f.do(t, "POST", "/ext/facts/nothing/retire", `{`+scopeOfAnna+`}`).Code)
	d = ext(t, f, "POST", "/ext/facts/"+oslo+"/retire", `{`+scopeOfAnna+`, "type": "memory"}`)
	assert.Equal(t, []any{"superseded", ""}, []any{d["status"], d["restored_at"]})
	assert.Equal(t, http.StatusConflict, f.do(t, "POST", "/ext/facts/"+oslo+"/retire", `{`+scopeOfAnna+`}`).Code)

	d = get("/ext/entities?prefix=li&")
	assert.Equal(t, []string{"lisbon"}, of(d["entities"], "name"))
	d = get("/ext/entities?prefix=li&acl=guest&")
	assert.Equal(t, []string{"lisbon"}, of(d["entities"], "name"), "what anybody may read mentions it")

	d = ext(t, f, "POST", "/ext/profile", `{`+scopeOfAnna+`, "subject": "Anna"}`)
	assert.Contains(t, d["summary"], "Lisbon")
	assert.Equal(t, "sources", d["summary_by"])
	assert.Equal(t, []string{"language"}, of(d["instructions"], "matter"))

	d = ext(t, f, "POST", "/ext/context", `{`+scopeOfAnna+`, "query": "where does she live?", "max_tokens": 60}`)
	assert.Contains(t, d["text"], "Instruction: ")
	assert.LessOrEqual(t, d["tokens"], 60.0)
	assert.NotEmpty(t, d["source_ids"])

	d = get("/ext/sessions?")
	assert.Equal(t, []string{"s"}, of(d["sessions"], "session_id"))
	d = get("/ext/sessions?acl=guest&")
	assert.Equal(t, []string{"s"}, of(d["sessions"], "session_id"), "what anybody may read is in it")
	d = get("/ext/sessions/messages?session_id=s&acl=guest&limit=1&")
	assert.Len(t, d["messages"], 1)
	d = get("/ext/sessions/messages?session_id=s&limit=2&")
	assert.Equal(t, []string{"always answer in french.", "i sail."}, of(d["messages"], "content"))
	d = get("/ext/sessions/messages?session_id=s&cursor=" + d["next_cursor"].(string) + "&")
	assert.Equal(t, []string{"assistant"}, of(d["messages"], "role"))

	d = ext(t, f, "PATCH", "/ext/memories/d", `{`+scopeOfAnna+`, "text": "I ski.", "metadata": {"department": "y"}}`)
	assert.Equal(t, "d", d["id"])
	require.NoError(t, f.svc.Drain(t.Context()))
	d = get("/ext/sessions/messages?session_id=s&")
	assert.Equal(t, []string{"always answer in french.", "i ski."}, of(d["messages"], "content"))

	d = ext(t, f, "POST", "/ext/memories/d/supersede", `{`+scopeOfAnna+`, "by": "b", "reason": "she told me"}`)
	assert.Equal(t, map[string]any{"source_id": "d", "superseded_by": "b"}, d)
	r := ext(t, f, "POST", "/query", `{`+scopeOfAnna+`, "type": "memory", "query": "sailing"}`)
	assert.Contains(t, fmt.Sprint(r["chunks"]), "she told me", "the caller's reason is the evidence")
	d = ext(t, f, "POST", "/ext/memories/d/restore", `{`+scopeOfAnna+`}`)
	assert.Equal(t, map[string]any{"source_id": "d", "undone": 1.0}, d)
	assert.NotContains(t, fmt.Sprint(ext(t, f, "POST", "/query", `{`+scopeOfAnna+`, "type": "memory", "query": "sailing"}`)["chunks"]), "she told me")
	assert.NotNil(t, get("/ext/conflicts?")["conflicts"])
	for path, body := range map[string]string{"/ext/memories/none/supersede": `{` + scopeOfAnna + `, "by": "b"}`, "/ext/memories/d/supersede": `{` + scopeOfAnna + `, "by": "none"}`, "/ext/memories/none/restore": `{` + scopeOfAnna + `}`} {
		assert.Equal(t, http.StatusNotFound, f.do(t, "POST", path, body).Code, path)
	}
	assert.Equal(t, http.StatusBadRequest, f.do(t, "POST", "/ext/memories/d/supersede", `{`+scopeOfAnna+`}`).Code)
	assert.Equal(t, http.StatusBadRequest, f.do(t, "GET", "/ext/conflicts?limit=1001&database=acme&collection=anna", "").Code)
	d = get("/ext/items/d/history?type=memory&")
	assert.Equal(t, []string{"2", "1"}, of(d["versions"], "version"))
	first := d["versions"].([]any)[1].(map[string]any)
	assert.Equal(t, []any{"edit", 2.0, "memory", []any{}}, []any{first["cause"], first["replaced_by"], d["type"], first["changes"]})
	assert.Equal(t, []string{"removed", "added"}, of(d["versions"].([]any)[0].(map[string]any)["changes"], "kind"))
	d = ext(t, f, "POST", "/ext/items/d/restore", `{`+scopeOfAnna+`, "version": 1}`)
	assert.Equal(t, "d", d["id"])
	require.NoError(t, f.svc.Drain(t.Context()))
	d = get("/ext/sessions/messages?session_id=s&")
	assert.Equal(t, []string{"always answer in french.", "i sail.", "where?"}, of(d["messages"], "content"))
	assert.Equal(t, http.StatusNotFound, f.do(t, "POST", "/ext/items/d/restore", `{`+scopeOfAnna+`, "version": 7}`).Code)
	assert.Equal(t, http.StatusBadRequest, f.do(t, "POST", "/ext/items/d/restore", `{`+scopeOfAnna+`}`).Code)
	assert.Equal(t, http.StatusNotFound, f.do(t, "GET", "/ext/items/d/history?type=knowledge&database=acme&collection=anna", "").Code)

	d = ext(t, f, "POST", "/ext/delete", `{`+scopeOfAnna+`, "session_id": "s", "filters": {"department": "y"}}`)
	assert.Equal(t, 1.0, d["deleted_count"])
	d = ext(t, f, "POST", "/ext/delete", `{`+scopeOfAnna+`, "filters": {"department": "x"}}`)
	assert.Equal(t, 1.0, d["deleted_count"])

	for range 2 {
		d = ext(t, f, "POST", "/ext/databases", `{"database": "ensured", "database_metadata_schema": [{"name": "team"}]}`)
		assert.Equal(t, []any{"ensured", true, 1.0}, []any{d["database"], d["ready"], d["schema_fields"]})
	}
}

// TestHiddenEntities checks that entities mentioned only by hidden documents are not listed to callers who may not read
// those.
func TestHiddenEntities(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	ext(t, f, "POST", "/ext/remember", `{"database": "acme", "memories": [
		{"source_id": "a", "infer": true, "user_name": "Anna", "text": "I live in Lisbon."},
		{"source_id": "b", "infer": true, "user_name": "Anna", "text": "I live in Lima."}]}`)
	_, err := f.svc.Tenant("acme").Sub("").EditMetadata(t.Context(), contextmem.EditMetadataRequest{Class: contextmem.ClassMemory, ID: "b", ACL: &[]string{"boss"}})
	require.NoError(t, err)
	require.NoError(t, f.svc.Drain(t.Context()))
	for who, want := range map[string]int{"": 2, "&acl=guest": 1, "&acl=boss": 2, "&acl=guest&acl=boss": 2} {
		t.Run(who, func(t *testing.T) {
			d := ext(t, f, "GET", "/ext/entities?prefix=li&database=acme"+who, "")
			assert.Len(t, d["entities"], want, "%s: %v", who, d)
		})
	}
}

// Checks that errors name a wrong field as the caller wrote it.
func TestExtensionsRefuse(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	rememberAnna(t, f)
	for _, x := range []struct {
		method, path, body string
		code               int
		says               string
	}{
		{"POST", "/ext/remember", `{` + scopeOfAnna + `}`, 400, `\"memories\"`},
		{"POST", "/ext/remember", `{` + scopeOfAnna + `, "memories": [{"messages": [{"role": "robot", "content": "x"}]}]}`, 422, `\"memories[0].messages[0].role\"`},
		{"POST", "/ext/remember", `{"collection": "anna", "memories": [{"text": "x"}]}`, 400, `\"database\"`},
		{"POST", "/ext/facts", `{` + scopeOfAnna + `, "slot": "zorble"}`, 400, `\"slot\"`},
		{"POST", "/ext/facts", `{` + scopeOfAnna + `, "cursor": "x"}`, 400, `\"cursor\"`},
		{"POST", "/ext/facts", `{` + scopeOfAnna + `, "limit": 0.5}`, 422, `\"limit\"`},
		{"GET", "/ext/entities?database=acme&limit=1001", "", 400, `\"limit\"`},
		{"POST", "/ext/profile", `{` + scopeOfAnna + `, "slots": ["zorble"]}`, 400, `\"slots\"`},
		{"POST", "/ext/context", `{` + scopeOfAnna + `, "query": " "}`, 400, `\"query\"`},
		{"GET", "/ext/sessions/messages?database=acme", "", 400, `\"session_id\"`},
		{"GET", "/ext/sessions?database=nowhere", "", 404, "DATABASE_NOT_FOUND"},
		{"PATCH", "/ext/memories/nobody", `{` + scopeOfAnna + `, "text": "x"}`, 404, "SOURCE_NOT_FOUND"},
		{"PATCH", "/ext/memories/a", `{` + scopeOfAnna + `, "text": " "}`, 422, `\"text\"`},
		{"PATCH", "/ext/memories/a", `{` + scopeOfAnna + `, "messages": [{"role": "robot", "content": "x"}]}`, 422, `\"messages[0].role\"`},
		{"POST", "/ext/delete", `{` + scopeOfAnna + `}`, 400, `\"filters\"`},
		{"POST", "/ext/delete", `{` + scopeOfAnna + `, "filters": {"unknown": "x"}}`, 400, `\"filters.unknown\"`},
		{"POST", "/ext/databases", `{"database": "acme", "database_metadata_schema": [{"name": "year", "data_type": "VARCHAR"}]}`, 409, `\"database_metadata_schema\"`},
		{"GET", "/ext/nothing", "", 404, "NOT_FOUND"},
		{"GET", "/ext/facts", "", 405, "METHOD_NOT_ALLOWED"},
	} {
		t.Run(x.method, func(t *testing.T) {
			w := f.do(t, x.method, x.path, x.body)
			assert.Equal(t, x.code, w.Code, "%s %s %s: %s", x.method, x.path, x.body, w.Body)
			assert.Contains(t, w.Body.String(), x.says, "%s %s", x.method, x.path)
		})
	}
}

// Checks that keys have the same rights in extension routes as in others.
func TestExtensionsNeedKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	for i := range extensions {
		x := &extensions[i]
		path := strings.NewReplacer("{source_id}", "m1", "{api_key_id}", "k1", "{database}", "acme").Replace(x.path)
		body := ""
		if x.body == bodyNone {
			path += "?database=acme"
		} else {
			body = `{"database": "acme"}`
		}
		assert.Equal(t, http.StatusUnauthorized, f.send(t, x.method, path, body, "Authorization", "Bearer nothing").Code, x.path)
		assert.Equal(t, http.StatusForbidden, f.send(t, x.method, path, body, "Authorization", "Bearer "+f.vars["otherkey"]).Code, "%s: a key of another tenant", x.path)
		for key, scope := range map[string]string{"querykey": "query", "ingestkey": "ingest"} {
			if string(x.scope) != scope {
				assert.Equal(t, http.StatusForbidden, f.send(t, x.method, path, body, "Authorization", "Bearer "+f.vars[key]).Code, "%s: %s", x.path, key)
			}
		}
	}
}

func TestExtensionsAreDocumented(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	w := f.send(t, http.MethodGet, "/ext/openapi.json", "")
	require.Equal(t, http.StatusOK, w.Code)
	var d document
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &d))
	documented := 0
	for _, ops := range d.Paths {
		documented += len(ops)
	}
	require.Equal(t, len(extensions), documented)
	ids := map[string]bool{}
	for i := range extensions {
		x := &extensions[i]
		op, ok := d.Paths[x.path][strings.ToLower(x.method)]
		require.True(t, ok, x.path)
		assert.NotEmpty(t, op.Summary)
		assert.False(t, ids[op.OperationID], op.OperationID)
		ids[op.OperationID] = true
		if x.body == bodyNone && !x.wholeOrg {
			assert.True(t, slices.ContainsFunc(op.Parameters, func(p parameter) bool { return p.Name == "database" }))
		}
	}
	// Answers fit what is said of them.
	rememberAnna(t, f)
	for path, body := range map[string]string{"/ext/facts": `{` + scopeOfAnna + `}`, "/ext/profile": `{` + scopeOfAnna + `, "subject": "Anna"}`, "/ext/context": `{` + scopeOfAnna + `, "query": "sailing"}`} {
		t.Run(path, func(t *testing.T) {
			op := d.Paths[path]["post"]
			require.NoError(t, d.check(op.RequestBody.Content["application/json"].Schema, decodeAny(t, []byte(body)), "request"))
			require.NoError(t, known(op.RequestBody.Content["application/json"].Schema, decodeAny(t, []byte(body))))
			got := f.do(t, http.MethodPost, path, body)
			require.Equal(t, http.StatusOK, got.Code)
			assert.NoError(t, d.check(op.Responses["200"].Content["application/json"].Schema, decodeAny(t, got.Body.Bytes()), "response"), path)
		})
	}
}
