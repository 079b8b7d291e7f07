package language_test

import (
	"fmt"
	"time"

	"github.com/contextmem/contextmem/internal/language"
)

func ExampleQueryCues() {
	c := language.QueryCues("When did Anna Lind visit the University of Porto in 2023?", time.Date(2024, 6, 10, 9, 0, 0, 0, time.UTC))
	fmt.Println(c.When, c.Intent, c.WindowStart.Format(time.DateOnly), c.WindowEnd.Format(time.DateOnly))
	for _, m := range c.Names {
		if !m.Part {
			fmt.Println(m.Key, m.Type)
		}
	}
	// Output:
	// true range 2023-01-01 2024-01-01
	// anna lind PERSON
	// university of porto ORGANIZATION
}
