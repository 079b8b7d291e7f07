package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/httpapi"
)

// The handler mounts below any prefix of a program's own server.
func ExampleNew() {
	svc, err := contextmem.New(context.Background(), inmem.New(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer svc.Close()
	h, err := httpapi.New(svc, httpapi.Options{Keys: map[string]string{"secret-key": contextmem.DefaultOrg}})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/memory/", http.StripPrefix("/memory", h))
	server := httptest.NewServer(mux)
	defer server.Close()

	for _, key := range []string{"secret-key", "a wrong one"} {
		req, err := http.NewRequest(http.MethodPost, server.URL+"/memory/databases", strings.NewReader(`{"database":"acme"}`))
		if err != nil {
			log.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			log.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		fmt.Println(resp.StatusCode)
	}
	// Output:
	// 200
	// 401
}
