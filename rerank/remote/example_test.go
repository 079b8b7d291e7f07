package remote_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/rerank/remote"
)

var _ contextmem.Reranker = (*remote.Reranker)(nil)

// A reranker is given to a service by Options; thinking mode then asks it.
func Example() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `[{"index":1,"score":0.9},{"index":0,"score":0.1}]`)
	}))
	defer srv.Close()
	r, err := remote.New(remote.Config{BaseURL: srv.URL, Dialect: remote.TEI})
	if err != nil {
		panic(err)
	}
	options := contextmem.Options{Reranker: r} // to contextmem.Open
	scores, err := options.Reranker.Rerank(context.Background(), "where does Ann live?", []string{"Ann likes tea.", "Ann moved to Oslo."})
	fmt.Println(scores, err)
	// Output: [0.1 0.9] <nil>
}
