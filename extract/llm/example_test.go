package llm_test

import (
	"fmt"

	"github.com/contextmem/contextmem/extract/llm"
	"github.com/contextmem/contextmem/extract/rules"
)

// The rules read every item first; the model's answer is laid over theirs, within the day's budget.
func ExampleNew() {
	x, err := llm.New(llm.Config{
		BaseURL:         "https://llm.example.org/v1",
		APIKey:          "from your secret store",
		Model:           "small-model",
		MaxTokensPerDay: 2_000_000,
		Fallback:        rules.New(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(x.Name())
	// Output: llm-1:small-model
}
