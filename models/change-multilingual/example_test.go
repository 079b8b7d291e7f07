package change_test

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/judge"
	change "github.com/contextmem/contextmem/models/change-multilingual"
)

func Example() {
	model, err := change.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	earlier := judge.Statement{Text: "signed up for the half marathon in May"}
	p, err := model.Replaces(ctx, []judge.Pair{
		{Earlier: earlier, Later: judge.Statement{Text: "the half marathon is off, my knee says no"}},
		{Earlier: earlier, Later: judge.Statement{Text: "my sister bought a toaster"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the cancellation is likelier than the toaster:", p[0] > p[1])
	// Output: the cancellation is likelier than the toaster: true
}
