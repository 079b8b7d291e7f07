package change

import (
	"errors"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
)

// version is a version of a memory that is being compared.
type version struct {
	src        *backend.Source
	statements []*statement
	known      int // see run.known
}

// vector returns the vector of the first statement, nil if there is none.
func (v *version) vector() []float32 {
	if len(v.statements) == 0 {
		return nil
	}
	return v.statements[0].vector
}

// read adds the user's statements in chunks to the version.
func (v *version) read(doc *item.Doc, chunks []backend.Chunk) {
	for i := range chunks {
		if s := read(doc, v.src, &chunks[i]); s != nil {
			v.statements = append(v.statements, s)
		}
	}
}

func (r *run) load(nums []int64) (versions []*version, err error) {
	srcs, err := r.Store.SourcesByNum(r.ctx, nums)
	if err != nil {
		return nil, err
	}
	for _, src := range srcs {
		if src == nil {
			continue
		}
		doc, err := r.doc(src)
		if err != nil {
			return nil, err
		}
		chunks, err := r.Store.SourceChunks(r.ctx, src.Num, 0, maxChunks, false)
		if err != nil {
			return nil, err
		}
		v := &version{src: src}
		v.read(doc, chunks)
		versions = append(versions, v)
	}
	return versions, nil
}

func (r *run) doc(src *backend.Source) (*item.Doc, error) {
	if d := r.docs[src.Num]; d != nil {
		return d, nil
	}
	d, err := item.Decode(src.Doc)
	if err != nil {
		return nil, fmt.Errorf("source %d: %w", src.Num, err)
	}
	r.docs[src.Num] = d
	return d, nil
}

// embed computes the vectors by which near memories are found.
func (r *run) embed(versions []*version) error {
	if r.Embedder == nil {
		return nil
	}
	var texts []string
	var to []*statement
	for _, v := range versions {
		for _, s := range v.statements {
			texts, to = append(texts, s.asNote().text), append(to, s)
		}
	}
	vs, err := r.vectors(texts)
	for i, v := range vs {
		to[i].vector = v
	}
	return err
}

// vectors returns the vectors of texts, in order.
func (r *run) vectors(texts []string) (out [][]float32, err error) {
	for from := 0; from < len(texts); from += embedAtOnce {
		part := texts[from:min(from+embedAtOnce, len(texts))]
		var vs [][]float32
		err := fault.Guard(func() (err error) {
			vs, err = r.Embedder.EmbedDocuments(r.ctx, part)
			return err
		})
		if err == nil && len(vs) != len(part) {
			err = errors.New("another number of vectors")
		}
		if err != nil {
			return nil, fmt.Errorf("embedder: %w", err)
		}
		out = append(out, vs...)
	}
	return out, nil
}
