package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
)

// believed is a fact or a relation in the form of the labels.
type believed struct {
	subject, predicate, object string
	ended, denied, goal        bool
	from                       time.Time
}

func (b believed) String() string {
	mark := ""
	if b.ended {
		mark = "-"
	}
	if b.denied {
		mark += "not_"
	}
	return fmt.Sprintf("%s/%s%s: %s", b.subject, mark, b.predicate, b.object)
}

func believedFact(f *extract.Fact) believed {
	predicate, denied := strings.CutPrefix(f.Predicate, extract.NotPrefix)
	return believed{subject: extract.Key(f.Subject), predicate: predicate, object: extract.Key(f.Object), ended: f.Retracts, denied: denied, goal: f.Kind == extract.KindGoal, from: f.ValidFrom}
}
