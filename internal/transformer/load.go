package transformer

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Load makes a model from the bytes of a safetensors file, which must not change while the model is used: embeddings and matrices in panels
// (see Panels) are read in place. Other matrices may be F32, F16 or BF16, I8 with scales, or 4-bit with scales (see findWeights). Load
// converts those of the encoder to int8, one byte of memory per weight, on up to GOMAXPROCS goroutines, which end before it returns.
//
// over has more safetensors files, whose tensors replace those of the same names. Later files override earlier ones; nil files are ignored.
func Load(cfg Config, safetensors []byte, over ...[]byte) (*Model, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	ts, err := readTensors(safetensors)
	if err != nil {
		return nil, err
	}
	for _, file := range over {
		if file == nil {
			continue
		}
		learnt, err := readTensors(file)
		if err != nil {
			return nil, err
		}
		if err := replace(ts, learnt); err != nil {
			return nil, err
		}
	}
	l := loader{cfg: cfg, ts: ts, k: bestKernels()}
	if l.prefix, err = prefix(ts); err != nil {
		return nil, err
	}
	m := &Model{cfg: cfg, k: l.k}
	l.embeddings(m)
	for i := 0; i < cfg.Layers && l.err == nil; i++ {
		m.layers = append(m.layers, l.layer(i))
	}
	if cfg.Labels > 0 && l.err == nil {
		m.head = l.classifier()
	}
	l.pack()
	if l.err != nil {
		return nil, l.err
	}
	return m, nil
}

// replace replaces tensors in ts by those of the same names in with. A matrix may have another form than the one that it replaces.
func replace(ts, with map[string]tensor) error {
	forms := func(name string) []string {
		whole := name
		for _, end := range []string{"_scale", "_sum", "_q4"} {
			whole = strings.TrimSuffix(whole, end)
		}
		return []string{whole, whole + "_q4", whole + "_scale", whole + "_sum"}
	}
	for name := range with {
		if !slices.ContainsFunc(forms(name), func(form string) bool { _, ok := ts[form]; return ok }) {
			return fmt.Errorf("safetensors: tensor %.100q replaces none", name)
		}
	}
	for name := range with {
		for _, form := range forms(name) {
			delete(ts, form)
		}
	}
	maps.Copy(ts, with)
	return nil
}

// prefix returns the text before "embeddings." in the names of the encoder's tensors: "bert." in a classifier, "" in a bare encoder.
func prefix(ts map[string]tensor) (string, error) {
	found, all := "", 0
	for name := range ts {
		if p, ok := strings.CutSuffix(name, "embeddings.position_embeddings.weight"); ok {
			found, all = p, all+1
		}
	}
	if all != 1 {
		return "", errors.New("safetensors: needs one embeddings.position_embeddings.weight")
	}
	return found, nil
}

// loader builds a model; it keeps the first error.
type loader struct {
	cfg    Config
	ts     map[string]tensor
	k      *kernels
	prefix string // of the encoder's tensors
	jobs   []packing
	shapes bool // only the shapes of large matrices are checked, not their values
	err    error
}

// packing is a matrix that becomes the output channels of l from first on, all multiplied by factor.
type packing struct {
	l      *linear
	first  int
	factor float32
	from   weights
}

func (l *loader) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// vector reads a tensor of n floats. It tries several names, since older checkpoints use others.
func (l *loader) vector(n int, names ...string) []float32 {
	for _, name := range names {
		t, ok := l.ts[name]
		if !ok {
			continue
		}
		if !t.floats() || !t.is(n) {
			break
		}
		v := make([]float32, n)
		if decode(v, t.data, t.dtype); !finite(v) {
			break
		}
		return v
	}
	l.fail(fmt.Errorf("safetensors: %s must be %d finite floats", names[0], n))
	return nil
}

func (l *loader) norm(name string) norm {
	return norm{
		gain: l.vector(l.cfg.Hidden, name+".weight", name+".gamma"),
		bias: l.vector(l.cfg.Hidden, name+".bias", name+".beta"),
	}
}

func (l *loader) table(name string, rows int) table {
	w, err := findWeights(l.ts, name, rows, l.cfg.Hidden)
	if err != nil {
		l.fail(err)
	}
	return table{w}
}

func (l *loader) embeddings(m *Model) {
	e := l.prefix + "embeddings."
	m.words = l.table(e+"word_embeddings", l.cfg.Vocab)
	m.positions = l.table(e+"position_embeddings", l.cfg.MaxPositions)
	if l.cfg.TypeVocab > 0 {
		m.types = l.table(e+"token_type_embeddings", l.cfg.TypeVocab)
	}
	m.norm = l.norm(e + "LayerNorm")
}

func (l *loader) layer(i int) layer {
	name, c := fmt.Sprintf("%sencoder.layer.%d.", l.prefix, i), l.cfg
	attention := name + "attention.self."
	scale := float32(1 / math.Sqrt(float64(c.Hidden/c.Heads)))
	return layer{
		qkv: l.linear(c.Hidden, c.Hidden, part{attention + "query", scale}, part{attention + "key", 1},
			part{attention + "value", 1}),
		project: l.linear(c.Hidden, c.Hidden, part{name + "attention.output.dense", 1}),
		norm1:   l.norm(name + "attention.output.LayerNorm"),
		up:      l.linear(c.Intermediate, c.Hidden, part{name + "intermediate.dense", 1}),
		down:    l.linear(c.Hidden, c.Intermediate, part{name + "output.dense", 1}),
		norm2:   l.norm(name + "output.LayerNorm"),
	}
}

// part is a matrix with a bias whose results are multiplied by factor.
type part struct {
	name   string
	factor float32
}

// linear makes a layer of adjacent parts of equal size, and queues the packing of their weights for pack.
func (l *loader) linear(out, in int, parts ...part) *linear {
	found := make([]weights, len(parts))
	biases := make([][]float32, len(parts))
	for i, p := range parts {
		var err error
		if found[i], err = findWeights(l.ts, p.name, out, in); err != nil {
			l.fail(err)
		}
		biases[i] = l.vector(out, p.name+".bias")
	}
	if l.err != nil {
		return nil
	}
	lin := emptyLinear(out*len(parts), in)
	if inPlace(found) {
		for _, w := range found {
			lin.addGroups(w.q.data)
		}
	} else {
		lin = newLinear(out*len(parts), in)
	}
	for i, p := range parts {
		l.jobs = append(l.jobs, packing{lin, i * out, p.factor, found[i]})
		for o, b := range biases[i] {
			lin.column(i*out + o)[2*groupCols] = b * p.factor
		}
	}
	return lin
}

// pack packs the weights that linear queued.
func (l *loader) pack() {
	if l.err != nil {
		return
	}
	jobs := make(chan packing, len(l.jobs))
	for _, j := range l.jobs {
		jobs <- j
	}
	close(jobs)
	var wait sync.WaitGroup
	errs := make([]error, min(runtime.GOMAXPROCS(0), len(l.jobs)))
	for i := range errs {
		wait.Go(func() {
			p := newPacker(l.k)
			for j := range jobs {
				if err := p.pack(j); err != nil {
					errs[i] = err
				}
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		l.fail(err)
	}
}
