package chunk_test

import (
	"fmt"

	"github.com/contextmem/contextmem/internal/chunk"
)

func ExampleSplit() {
	text := `# Garden

## Trees

Oaks grow slowly. They may stand for a thousand years, and many do so in parks.

## Herbs

Mint grows anywhere. Plant it in a pot, or it will take over all of the garden.
`
	for _, c := range chunk.Split(text, true, nil, chunk.Options{TargetBytes: 120, MaxBytes: 200}) {
		fmt.Printf("%d-%d %s: %.17q\n", c.Start, c.End, c.Heading, c.Text)
	}
	// Output:
	// 0-99 Garden > Trees: "# Garden\n\n## Tree"
	// 101-190 Garden > Herbs: "## Herbs\n\nMint gr"
}
