package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Config holds the settings of experiments.
type Config struct {
	Full   bool
	Corpus string // file that corpus.sh wrote; empty: made-up documents, which a full run refuses
	Dir    string // scratch folder; empty: the system's
	Keep   string // folder that keeps hnswlib graphs and our indexes between runs; empty: they are not kept
	Rows   int    // number of rows in exact and large, and the only size of sweep; 0: their defaults
	Dim    int    // only dimension of sweep; 0: all
	Seed   uint64
	// Profile is a file for a processor profile of the timed queries; empty: none.
	Profile string
	Alone   bool // leaves the contenders out of exact, large and keywords
}

// Experiment is one table.
type Experiment struct {
	Name string
	Run  func(ctx context.Context, c *Config) (*Report, error)
}

// Experiments lists all experiments in the order of README's table.
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

// pick returns full in a full run and small otherwise.
func (c *Config) pick(full, small int) int {
	if c.Full {
		return full
	}
	return small
}

// rows returns c.Rows if it is set, and pick(full, small) otherwise.
func (c *Config) rows(full, small int) int {
	if c.Rows > 0 {
		return c.Rows
	}
	return c.pick(full, small)
}

// asked reports whether this run has the size for which the requirements are stated.
func (c *Config) asked() bool { return c.Full && c.Rows == 0 }

// scratch creates an empty folder. remove deletes it.
func (c *Config) scratch() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp(c.Dir, "contextmem-bench-"); err != nil {
		return "", nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", nil, err
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// index opens the index of an experiment and fills it with n rows, or reuses the index that an earlier
// run kept. cpu is the processor time of filling, or "kept". remove deletes files that are not kept.
func (c *Config) index(ctx context.Context, name string, n int, vec func(i int) []float32, text func(i int) string) (l *Local, cpu string, remove func(), err error) {
	dir, whole, remove := "", "", func() {}
	if c.Keep != "" {
		if dir, err = filepath.Abs(filepath.Join(c.Keep, fmt.Sprintf("local-%s-%d-%d", name, c.Seed, n))); err == nil {
			err = os.MkdirAll(dir, 0o700)
		}
		whole = dir + ".whole" // made when all background work was done
	} else {
		dir, remove, err = c.scratch()
	}
	if err != nil {
		return nil, "", nil, err
	}
	defer func() {
		if err != nil {
			remove()
		}
	}()
	if l, err = OpenLocal(dir); err != nil {
		return nil, "", nil, err
	}
	if _, err := os.Stat(whole); whole != "" && err == nil && l.seq == uint64(n) {
		return l, "kept", remove, nil
	}
	start := begin()
	err = l.Refill(ctx, n, vec, text)
	_, took := start.since()
	if err == nil && whole != "" {
		err = os.WriteFile(whole, nil, 0o600)
	}
	if err != nil {
		_ = l.Close() // the error above says more
		return nil, "", nil, err
	}
	return l, seconds(took), remove, nil
}

// kept returns a folder that fill has filled, now or in an earlier run with the same name
// and seed. fresh reports whether the files of an earlier run are still usable. remove
// deletes the folder unless it is kept.
func (c *Config) kept(name string, fill func(dir string) error, fresh func(dir string) bool) (dir string, remove func(), err error) {
	if c.Keep == "" {
		if dir, remove, err = c.scratch(); err == nil {
			err = fill(dir)
		}
		if err != nil && remove != nil {
			remove()
		}
		return dir, remove, err
	}
	if dir, err = filepath.Abs(filepath.Join(c.Keep, fmt.Sprintf("%s-%d", name, c.Seed))); err != nil {
		return "", nil, err
	}
	whole := filepath.Join(dir, "whole")
	if _, err := os.Stat(whole); err == nil && fresh(dir) {
		return dir, func() {}, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	if err := fill(dir); err != nil {
		return "", nil, err
	}
	return dir, func() {}, os.WriteFile(whole, nil, 0o600)
}

// docs returns n documents and their description.
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
