package rules_test

import (
	"context"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/extract/rules"
)

func ExampleExtractor_Extract() {
	out, err := rules.New().Extract(context.Background(), []extract.Input{{
		Text:    "I moved to Porto last month because I love sailing.",
		Time:    time.Date(2024, 6, 10, 9, 0, 0, 0, time.UTC),
		Speaker: "Alex",
		Memory:  true,
		Infer:   true,
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range out[0].Relations {
		fmt.Println(r.Source, r.Predicate, r.Target, r.ValidFrom.Format(time.DateOnly))
	}
	for _, f := range out[0].Facts {
		fmt.Println(f.Kind+":", f.Text)
	}
	// Output:
	// alex lives_in porto 2024-05-01
	// alex likes sailing 0001-01-01
	// fact: Alex moved to Porto last month (May 2024).
	// preference: Alex loves sailing.
}
