package httpapi

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDatabaseOverREST(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	rememberAnna(t, f)
	d := ext(t, f, "PATCH", "/ext/databases/acme", `{"instructions": "Read the names of boats."}`)
	require.Equal(t, "Read the names of boats.", d["instructions"])
	d = ext(t, f, "PATCH", "/ext/databases/acme", `{"name": "acme-2"}`)
	require.Equal(t, "acme-2", d["database"])
	d = ext(t, f, "GET", "/ext/databases/acme-2", "")
	require.Equal(t, "Read the names of boats.", d["instructions"])
	require.Equal(t, true, d["ready"])
	for _, x := range []struct {
		path, body string
		status     int
	}{
		{"/ext/databases/acme", `{"name": "b"}`, http.StatusNotFound},
		{"/ext/databases/acme-2", `{}`, http.StatusBadRequest},
		{"/ext/databases/acme-2", `{"name": "not a name"}`, http.StatusBadRequest},
		{"/ext/databases/acme-2", `{"instructions": 7}`, http.StatusUnprocessableEntity},
	} {
		t.Run(x.path, func(t *testing.T) {
			w := f.do(t, "PATCH", x.path, x.body)
			require.Equal(t, x.status, w.Code, "%s %s: %s", x.path, x.body, w.Body)
		})
	}

	w := f.do(t, "GET", "/context/chunks?database=acme-2&collection=anna&id=a&type=memory", "")
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	var a struct{ Data chunksAnswer }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &a))
	require.Equal(t, "memory", a.Data.Type)
	require.Len(t, a.Data.Chunks, 2, "what was said, and what was inferred")
	require.Equal(t, "I live in Oslo.", a.Data.Chunks[0].Content)
	require.Nil(t, a.Data.Next)
	require.Equal(t, http.StatusNotFound, f.do(t, "GET", "/context/chunks?database=acme-2&collection=anna&id=nobody", "").Code)
	require.Equal(t, http.StatusBadRequest, f.do(t, "GET", "/context/chunks?database=acme-2&collection=anna", "").Code)
}
