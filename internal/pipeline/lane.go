package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// FillLane embeds the chunks of versions into a lane, and returns the number of versions stored.
// It skips versions that are gone or change while it embeds them.
func FillLane(ctx context.Context, st backend.Store, e Embedder, lane backend.Lane, nums []int64) (stored int, _ error) {
	srcs, err := st.SourcesByNum(ctx, nums)
	if err != nil {
		return 0, err
	}
	var u unembedded
	var batch []backend.LaneVectors
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := u.embed(ctx, e); err != nil {
			return &embedError{err}
		}
		ok, err := st.PutVectors(ctx, lane, batch)
		for _, done := range ok {
			if done {
				stored++
			}
		}
		batch = nil
		return err
	}
	for _, src := range srcs {
		if src == nil {
			continue
		}
		chunks, err := st.SourceChunks(ctx, src.Num, 0, 1<<30, false)
		if err != nil {
			return stored, err
		}
		read, err := readings(src, chunks)
		if err != nil {
			return stored, err
		}
		vectors := make([][]float32, len(chunks))
		for i := range read {
			u.add(src.Part.Class, read[i], &vectors[i])
		}
		batch = append(batch, backend.LaneVectors{Source: src.Version(), Vectors: vectors})
		if u.count() >= maxEmbedTexts {
			if err := flush(); err != nil {
				return stored, err
			}
		}
	}
	return stored, flush()
}

// readings returns the texts that the embedder reads for the stored chunks of a version.
func readings(src *backend.Source, chunks []backend.Chunk) ([]reading, error) {
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return nil, fmt.Errorf("record of source %d: %w", src.Num, backend.ErrCorrupt)
	}
	out := make([]reading, len(chunks))
	for i := range chunks {
		var lay Layout
		if len(chunks[i].Layout) > 0 && json.Unmarshal(chunks[i].Layout, &lay) != nil {
			return nil, fmt.Errorf("layout of chunk %d: %w", chunks[i].Num, backend.ErrCorrupt)
		}
		if lay.Inferred {
			out[i] = plainReading(chunks[i].Text)
		} else {
			out[i] = readingOf(doc, src.Part.Class, src.Title, src.Filename, chunks[i].Text, chunks[i].Heading)
		}
	}
	return out, nil
}

// embedText returns the text that the embedder reads for a chunk: headings, the chunk's text, and
// the values of metadata fields declared with a dense embedding.
func embedText(doc *item.Doc, title, text, heading string) string {
	if (!doc.NamedTitle || title == "") && (heading == "" || strings.HasPrefix(text, heading)) && len(doc.Dense) == 0 {
		return text
	}
	var b strings.Builder
	if doc.NamedTitle && title != "" {
		b.WriteString(title)
		b.WriteByte('\n')
	}
	if heading != "" && !strings.HasPrefix(text, heading) {
		b.WriteString(heading)
		b.WriteByte('\n')
	}
	b.WriteString(text)
	for _, v := range doc.Dense {
		b.WriteByte('\n')
		b.WriteString(v)
	}
	return b.String()
}
