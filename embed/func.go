package embed

import "context"

// Func is a contextmem.Embedder made of one function, for services and models that need nothing else.
type Func struct {
	Name   string // identifies model and weights; stored with each tenant, so that opening with another name is an error
	Length int    // length of every vector, 1 to 4096
	// Embed returns a vector of Length for each text, in order. query is true when the texts are questions; models that embed
	// questions and documents alike ignore it. Embed must be safe for concurrent use.
	Embed func(ctx context.Context, texts []string, query bool) ([][]float32, error)
}

// Model returns the name.
func (f Func) Model() string { return f.Name }

// Dim returns the length of the vectors.
func (f Func) Dim() int { return f.Length }

// EmbedDocuments calls Embed.
func (f Func) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return f.Embed(ctx, texts, false)
}

// EmbedQuery calls Embed with one text.
func (f Func) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vs, err := f.Embed(ctx, []string{text}, true)
	if err != nil {
		return nil, err
	}
	if len(vs) != 1 {
		return nil, errCount
	}
	return vs[0], nil
}

type constError string

func (e constError) Error() string { return string(e) }

// errCount is the error for a function that returns more or less than one vector for a question.
const errCount = constError("embed: the function answered with another number of vectors")
