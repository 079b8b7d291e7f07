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
	Keep   string // folder in which graphs of hnswlib and our indexes are kept between runs; empty: they are not
	Rows   int    // instead of the rows of experiments exact and large, and the one size of sweep; 0: theirs
	Dim    int    // the one length of vectors of sweep; 0: all
	Seed   uint64
	// Profile is a file for a processor profile of the timed queries; empty: none.
	Profile string
	Alone   bool // without the contenders, in exact, large and keywords
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

// index opens the index of an experiment and fills it with n rows, or finds it as an earlier run
// kept it. cpu is what filling took, "kept" where it was not needed. remove deletes what is not kept.
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

// kept returns a folder that fill has filled: now, or in a run before with the same name
// and seed whose files were kept and are still understood, which fresh tells. remove
// deletes it unless it is kept.
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
