package lexical_test

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/internal/lexical"
)

func Example() {
	mem := lexical.NewMem()
	for row, text := range []string{"Anna waters the roses.", "Roses need sun.", "The car is red."} {
		if err := mem.Add(uint32(row), lexical.Doc{Fields: []lexical.Field{{Text: text}}}); err != nil {
			fmt.Println(err)
		}
	}
	q := lexical.ParseQuery("Who watered a rose?", lexical.Or)
	hits, err := lexical.Search(context.Background(), q, 10, []lexical.View{{Part: mem}})
	if err != nil {
		fmt.Println(err)
	}
	for _, h := range hits {
		fmt.Printf("%d %.2f\n", h.Row, h.Score)
	}
	// Output:
	// 0 0.63
	// 1 0.20
}
