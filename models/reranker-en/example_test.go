package reranker_test

import (
	"context"
	"fmt"
	"log"

	reranker "github.com/contextmem/contextmem/models/reranker-en"
)

// The model reads question and passage together.
func ExampleReranker_Rerank() {
	model, err := reranker.New()
	if err != nil {
		log.Fatal(err)
	}
	passages := []string{
		"The museum is closed on Mondays.",
		"On Mondays the museum shop sells posters at half price.",
		"The museum was founded in 1887.",
	}
	scores, err := model.Rerank(context.Background(), "how old is the museum?", passages)
	if err != nil {
		log.Fatal(err)
	}
	best := 0
	for i, s := range scores {
		if s > scores[best] {
			best = i
		}
	}
	fmt.Println(passages[best])
	// Output: The museum was founded in 1887.
}
