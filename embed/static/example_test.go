package static_test

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/embed/static"
)

func Example() {
	ctx := context.Background()
	e := static.New()
	docs := []string{"The kitten slept on the sofa.", "Interest rates were raised by the central bank."}
	vecs, _ := e.EmbedDocuments(ctx, docs)
	query, _ := e.EmbedQuery(ctx, "Where does the cat nap?")

	for i, v := range vecs {
		var score float32
		for k := range v {
			score += query[k] * v[k]
		}
		fmt.Println(score > 0.2, docs[i])
	}
	// Output:
	// true The kitten slept on the sofa.
	// false Interest rates were raised by the central bank.
}

func ExampleEmbedder_Coverage() {
	e := static.New()
	fmt.Println(e.Coverage("green tea"), e.Coverage("order QXRV7719"), e.Coverage("\u6771\u4eac"))
	// Output: 1 0.5 0
}
