package httpapi

import (
	"embed"
	"net/http"
)

// openAPIVersion is the version of the documents and of the second generation.
const openAPIVersion = "2.0.1"

//go:embed openapi/*.json
var openAPIFiles embed.FS

func serveOpenAPI(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		b, err := openAPIFiles.ReadFile("openapi/" + name + ".json")
		if err != nil {
			http.Error(w, "not found", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(b)
	}
}
