package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Config says what experiments run on.
type Config struct {
	Full   bool
	Corpus string // a file that corpus.sh made; empty: made-up documents, which a full run refuses
	Dir    string // scratch folder; empty: the system's
	Keep   string // folder in which graphs of hnswlib are kept between runs; empty: they are not
	Rows   int    // instead of the rows of experiments exact and large; 0: theirs
	Seed   uint64
}

// Experiment is one table.
type Experiment struct {
	Name string
	Run  func(ctx context.Context, c *Config) (*Report, error)
}

// Experiments are all there are, in the order of README's table.
var Experiments = []Experiment{
	{"exact", ExactScan},
	{"large", Large},
	{"keywords", Keywords},
	{"open", ColdOpen},
	{"insert", DurableInsert},
	{"ingest", BulkIngest},
	{"tenants", Tenants},
	{"million", Million},
	{"sweep", Sweep},
}

// pick returns the size of a full run, or of a small one.
func (c *Config) pick(full, small int) int {
	if c.Full {
		return full
	}
	return small
}

// rows is pick for the experiments whose rows can be chosen.
func (c *Config) rows(full, small int) int {
	if c.Rows > 0 {
		return c.Rows
	}
	return c.pick(full, small)
}

// asked tells whether this run has the size that demands speak of.
func (c *Config) asked() bool { return c.Full && c.Rows == 0 }

// scratch makes an empty folder; remove deletes it.
func (c *Config) scratch() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp(c.Dir, "contextmem-bench-"); err != nil {
		return "", nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", nil, err
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// docs returns n documents and says what they are.
func (c *Config) docs(n int) (docs []string, what string, err error) {
	if c.Corpus == "" {
		if c.Full {
			return nil, "", fmt.Errorf("a full run needs the text corpus: corpus.sh makes it")
		}
		return MadeUp(c.Seed, n), fmt.Sprintf("%d made-up documents", n), nil
	}
	if docs, err = LoadCorpus(c.Corpus); err != nil {
		return nil, "", err
	}
	have := len(docs)
	what = fmt.Sprintf("%d documents of WordNet and GCIDE", n)
	if n > have {
		what += fmt.Sprintf(", %d of them spliced from two others", n-have)
	}
	return Stretch(docs, n), what, nil
}
