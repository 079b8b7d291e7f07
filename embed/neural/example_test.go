package neural_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/contextmem/contextmem/embed/neural"
	"github.com/contextmem/contextmem/internal/checkpoint/tiny"
)

// A directory as it comes from Hugging Face: config.json, tokenizer.json,
// model.safetensors. The model of this example has random weights.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := tiny.Write(dir, tiny.Files(1, 0)); err != nil {
		log.Fatal(err)
	}

	query, passage := "query: ", "passage: "
	model, err := neural.Load(dir, &neural.Options{Model: "my-model", QueryPrefix: &query, DocumentPrefix: &passage})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	vectors, err := model.EmbedDocuments(context.Background(), []string{"The cat sat on the mat.", "Ann lives in Oslo."})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(vectors), "vectors of", model.Dim(), "dimensions")
	// Output: 2 vectors of 32 dimensions
}
