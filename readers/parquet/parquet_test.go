package parquet

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/document"
)

type bed struct {
	Name  string    `parquet:"name,zstd"`
	Rows  int32     `parquet:"rows"`
	Sown  time.Time `parquet:"sown,timestamp"`
	Share float64   `parquet:"share"`
	Tags  []string  `parquet:"tags,list"`
	Note  *string   `parquet:"note,optional,snappy"`
}

func file(tb testing.TB, n int) []byte {
	tb.Helper()
	note := "by the wall | shaded"
	beds := make([]bed, n)
	for i := range beds {
		beds[i] = bed{Name: "north", Rows: int32(i), Sown: time.Date(2024, 4, 2, 7, 30, 0, 0, time.UTC), Share: .084, Tags: []string{"peas", "beans"}}
		if i%2 == 1 {
			beds[i].Note = &note
		}
	}
	var b bytes.Buffer
	require.NoError(tb, parquet.Write(&b, beds))
	return b.Bytes()
}

func TestParse(t *testing.T) {
	t.Parallel()
	doc, err := Parser{}.Parse(t.Context(), document.Input{Data: file(t, 2)}, document.Limits{}.WithDefaults(0))
	require.NoError(t, err)
	assert.Equal(t, "| name | rows | sown | share | tags.list.element | note |\n| --- | --- | --- | --- | --- | --- |\n"+
		"| north | 0 | 2024-04-02 07:30:00 | 0.084 | peas, beans |  |\n| north | 1 | 2024-04-02 07:30:00 | 0.084 | peas, beans | by the wall \\| shaded |", doc.Text)
	assert.Empty(t, doc.Partial)

	doc, err = Parser{MaxRows: 5}.Parse(t.Context(), document.Input{Data: file(t, 200)}, document.Limits{}.WithDefaults(0))
	require.NoError(t, err)
	assert.Equal(t, "5 of 200 rows were read", doc.Partial)
}

// TestInAService: the option makes such files supported, and their rows are found.
func TestInAService(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Parsers: map[string]document.Parser{MediaType: Parser{}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	require.True(t, svc.Supported("beds.parquet", ""))
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
	s := svc.Tenant("acme").Sub("")
	res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "beds.parquet", Data: file(t, 3)}}})
	require.NoError(t, err)
	st, err := s.Wait(t.Context(), res.IDs()...)
	require.NoError(t, err)
	require.Equal(t, contextmem.StatusCompleted, st[0].Status, st[0].ErrorMessage)
	hits, err := s.Recall(t.Context(), contextmem.Recall{Query: "what is shaded by the wall?"})
	require.NoError(t, err)
	require.NotEmpty(t, hits.Chunks)
}

// TestDamaged checks that a damaged file gives an error of the right kind, or is partial, and never ends the process.
func TestDamaged(t *testing.T) {
	t.Parallel()
	whole := file(t, 100)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		data := bytes.Clone(whole)
		if i%3 == 0 {
			data = data[:rnd.IntN(len(data))]
		} else {
			for range 1 + i%8 {
				data[rnd.IntN(len(data))] = byte(rnd.Uint32())
			}
		}
		func() {
			defer func() { _ = recover() }() // the registry turns a panic into an error of the document
			doc, err := Parser{}.Parse(t.Context(), document.Input{Data: data}, document.Limits{}.WithDefaults(0))
			if err == nil && i%3 == 0 {
				assert.NotEmpty(t, doc.Partial)
			}
		}()
	}
	_, err := Parser{}.Parse(t.Context(), document.Input{Data: whole}, document.Limits{MaxExpanded: 100, MaxOutput: 1000})
	var e *document.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, document.LimitExceeded, e.Kind)
}
