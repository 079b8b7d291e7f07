// Package joint combines two embedders: a base model of many languages, and a second model that is better at some of them. Texts in
// the second model's languages get the vectors of both models; other texts get only the vector of the base model. One index serves all
// texts, so questions in one language find texts in another.
//
// The mean vectors of both models, known from their calibrations, are subtracted first. Cosines of such models often all lie between
// .7 and .9; without the subtraction, their sum would mostly be a constant.
package joint

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/internal/language"
)

// Calibration describes the distribution of an embedder's scores; see contextmem.Calibration.
type Calibration = struct {
	QueryMean, DocumentMean                              []float32
	UnrelatedMean, UnrelatedStd, RelatedMean, RelatedStd float32
}

// Member is one of the two embedders. Its vectors have unit length, and it is calibrated.
type Member interface {
	embed.Embedder
	// Calibration must not be nil.
	Calibration() *Calibration
}

// Shares of the mean vectors that are subtracted. The rest of the base model's mean keeps scores of unrelated texts above 0, the score
// that recall reserves for texts without a vector.
const (
	baseOff   = .8
	besideOff = 1.0
)

// Weights of the two models in a score, and of the base model where it stands alone. They were tuned on English conversations and on
// short handbooks that are used for nothing else. docs/recall.md says how much the second model adds.
const (
	baseWeight   = .4
	besideWeight = .6
	alone        = 1.15 // of a document that only the base model reads: makes up for the missing score of the second model
)

// Embedder is the two models together. It is safe for concurrent use.
type Embedder struct {
	base, beside part
	languages    []string
	model        string
	calibration  Calibration
	memories     *turn     // nil: memories are searched with the question's own vector
	ofMemories   *Embedder // nil: the Embedder itself
	slots        *head     // nil: no slot is known
	statements   []embed.StatementSlot
}

// part is a member with the vectors that are subtracted from its results.
type part struct {
	Member
	dim       int
	query     []float32 // subtracted from the vectors of queries
	documents []float32
	weight    float32 // of a vector
}

// New combines base, which embeds all texts, and beside, which also embeds texts in some languages. languages are ISO 639-1 codes that
// language detection knows (ar da de en es fi fr hi hu it ja ko nl no pl pt ro ru sv th tr zh).
func New(base, beside Member, languages ...string) (*Embedder, error) {
	if base == nil || beside == nil || len(languages) == 0 {
		return nil, errors.New("joint: two embedders and a language are needed")
	}
	e := &Embedder{languages: slices.Clone(languages)}
	var err error
	if e.base, err = partOf(base, baseOff, baseWeight); err != nil {
		return nil, err
	}
	if e.beside, err = partOf(beside, besideOff, besideWeight); err != nil {
		return nil, err
	}
	id := fnv.New32a()
	fmt.Fprint(id, base.Model(), "\x00", beside.Model(), "\x00", languages, baseOff, besideOff, baseWeight, besideWeight, alone)
	e.model = fmt.Sprintf("joint/%08x", id.Sum32())
	e.calibrate()
	return e, nil
}

func partOf(m Member, off float32, weight float64) (part, error) {
	c := m.Calibration()
	if c == nil || len(c.QueryMean) != m.Dim() || len(c.DocumentMean) != m.Dim() {
		return part{}, fmt.Errorf("joint: %s is not calibrated", m.Model())
	}
	p := part{Member: m, dim: m.Dim(), weight: float32(math.Sqrt(weight)), query: slices.Clone(c.QueryMean), documents: slices.Clone(c.DocumentMean)}
	for i := range p.query {
		p.query[i] *= off
		p.documents[i] *= off
	}
	return p, nil
}

// calibrate computes the calibration for texts in the languages that both models read.
func (e *Embedder) calibrate() {
	c := &e.calibration
	c.QueryMean, c.DocumentMean = make([]float32, e.Dim()), make([]float32, e.Dim())
	b, s := e.base.Calibration(), e.beside.Calibration()
	left(c.QueryMean, b.QueryMean, baseOff, e.base.weight)
	left(c.DocumentMean, b.DocumentMean, baseOff, e.base.weight)
	of := func(x, y float32) float32 { return baseWeight*x + besideWeight*y }
	root := func(x, y float32) float32 {
		return float32(math.Hypot(baseWeight*float64(x), besideWeight*float64(y)))
	}
	c.UnrelatedMean, c.RelatedMean = of(b.UnrelatedMean, s.UnrelatedMean), of(b.RelatedMean, s.RelatedMean)
	c.UnrelatedStd, c.RelatedStd = root(b.UnrelatedStd, s.UnrelatedStd), root(b.RelatedStd, s.RelatedStd)
}

// left sets dst to weight times the mean vector that remains after the share off of mean was subtracted from unit vectors and these
// were normalised again.
func left(dst, mean []float32, off, weight float32) {
	square := 0.0
	for _, x := range mean {
		square += float64(x) * float64(x)
	}
	length := math.Sqrt(max(1e-6, 1-float64(off)*(2-float64(off))*square))
	for i, x := range mean {
		dst[i] = x * (1 - off) * weight / float32(length)
	}
}

// Model identifies both models and their weights.
func (e *Embedder) Model() string { return e.model }

// Dim is the sum of the members' dimensions.
func (e *Embedder) Dim() int { return e.base.dim + e.beside.dim }

// Slow reports that a text takes milliseconds.
func (e *Embedder) Slow() bool { return true }

// Coverage is the Coverage of the base model.
func (e *Embedder) Coverage(text string) float64 {
	if c, ok := e.base.Member.(interface{ Coverage(string) float64 }); ok {
		return c.Coverage(text)
	}
	return 1
}

// Calibration is computed from the calibrations of the members. The caller must not change it.
func (e *Embedder) Calibration() *Calibration { return &e.calibration }

// reads reports whether the second model reads a text. A text of plain Latin letters whose language is not recognised, such as a name,
// counts as English.
func (e *Embedder) reads(text string) bool {
	if l := language.Guess(text); l != "" {
		return slices.Contains(e.languages, l)
	}
	return slices.Contains(e.languages, "en") && language.PlainLatin(text)
}

// EmbedQuery returns the vectors of both models, concatenated. The second part is 0 for a question that the second model does not
// read. The errors are those of the members.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	out := make([]float32, e.Dim())
	one := func(ctx context.Context, p *part, to []float32) error {
		v, err := p.EmbedQuery(ctx, text)
		if err == nil {
			p.put(to, v, p.query, p.weight)
		}
		return err
	}
	if !e.reads(text) {
		if err := one(ctx, &e.base, out[:e.base.dim]); err != nil {
			return nil, err
		}
		return out, nil
	}
	group, ctx := errgroup.WithContext(ctx) // both models run at once
	group.Go(func() error { return one(ctx, &e.base, out[:e.base.dim]) })
	group.Go(func() error { return one(ctx, &e.beside, out[e.base.dim:]) })
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}

// EmbedDocuments returns the vectors of both models, concatenated. The second part is 0 for a text that the second model does not
// read. The errors are those of the members.
func (e *Embedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	var read []string
	var at []int
	for i, t := range texts {
		if e.reads(t) {
			read, at = append(read, t), append(at, i)
		}
	}
	var base, beside [][]float32
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		base, err = e.base.EmbedDocuments(ctx, texts)
		return err
	})
	if len(read) > 0 {
		group.Go(func() (err error) {
			beside, err = e.beside.EmbedDocuments(ctx, read)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if len(base) != len(texts) || len(beside) != len(read) {
		return nil, errors.New("joint: a member returned another number of vectors")
	}
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = make([]float32, e.Dim())
	}
	for i, v := range base {
		weight := e.base.weight
		if k, both := slices.BinarySearch(at, i); both {
			e.beside.put(out[i][e.base.dim:], beside[k], e.beside.documents, e.beside.weight)
		} else {
			weight *= alone
		}
		e.base.put(out[i][:e.base.dim], v, e.base.documents, weight)
	}
	return out, nil
}

// put sets dst to v minus its mean, scaled to the length weight.
func (p *part) put(dst, v, mean []float32, weight float32) {
	square := 0.0
	for i, x := range v {
		dst[i] = x - mean[i]
		square += float64(dst[i]) * float64(dst[i])
	}
	if square == 0 {
		return
	}
	scale := weight / float32(math.Sqrt(square))
	for i := range dst {
		dst[i] *= scale
	}
}
