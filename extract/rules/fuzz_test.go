package rules

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// check fails when an output breaks the guarantees of its types.
func check(t *testing.T, in *extract.Input, out *extract.Output) {
	t.Helper()
	valid := utf8.ValidString(in.Text) && utf8.ValidString(in.Title)
	span := func(what string, start, end int, text string) {
		if start < 0 || end < start || end > len(text) {
			t.Fatalf("%s at [%d,%d) of %d bytes", what, start, end, len(text))
		}
		if valid && !utf8.ValidString(text[start:end]) {
			t.Fatalf("%s at [%d,%d) cuts a rune", what, start, end)
		}
	}
	keys := map[string]bool{}
	type place struct {
		chunk int
		key   string
	}
	seen := map[place]bool{}
	for _, m := range out.Mentions {
		keys[m.Key] = true
		if m.Key == "" || m.Name == "" || m.Type == "" || m.Weight < 1 || m.Weight > 3 || len(m.Key) > extract.MaxKey {
			t.Fatalf("mention %+v", m)
		}
		if k := (place{m.Chunk, m.Key}); seen[k] {
			t.Fatalf("mention twice in a chunk: %+v", m)
		} else {
			seen[k] = true
		}
		if m.Chunk == extract.TitleChunk {
			span("title mention", m.Start, m.End, in.Title)
			continue
		}
		span("mention", m.Start, m.End, in.Text)
		if m.Chunk < 0 || m.Chunk >= max(1, len(in.Chunks)) {
			t.Fatalf("mention in chunk %d of %d", m.Chunk, len(in.Chunks))
		}
	}
	for _, r := range out.Relations {
		if !keys[r.Source] || !keys[r.Target] || r.Predicate == "" || len(r.Context) > extract.MaxContext || r.Confidence <= 0 || r.Confidence > 1 || r.Chunk < 0 || r.Chunk >= max(1, len(in.Chunks)) {
			t.Fatalf("relation %+v, mentions %v", r, keys)
		}
		if !r.ValidFrom.IsZero() && !r.ValidTo.IsZero() && r.ValidTo.Before(r.ValidFrom) {
			t.Fatalf("relation ends before it begins: %+v", r)
		}
	}
	for _, f := range out.Facts {
		span("fact", f.Start, f.End, in.Text)
		if f.Subject == "" || f.Predicate == "" || f.Text == "" || f.Confidence <= 0 || f.Confidence > 1 || len(f.Evidence) > extract.MaxContext {
			t.Fatalf("fact %+v", f)
		}
	}
	for _, d := range out.Dates {
		span("date", d.Start, d.End, in.Text)
		if !d.From.Before(d.To) || d.Surface != in.Text[d.Start:d.End] || d.Precision == "" {
			t.Fatalf("date %+v", d)
		}
	}
}

// corpus is text of many shapes.
var corpus = []string{
	short, "", " ", "\n\n\n", "I", "I'm", "'s", "my", "My is", "-", "...", "?!", "@", "#", "$", "$5", "5%", "5 %", "a/b/c", "x@y", "http://", "https://例え.jp/あ", "\xff\xfe\xfd", "A\xffB C\xffD",
	"I think that I think that I think", "I and I and I, so I but I", "user:", "user: \nassistant: ?\nuser: yes", "Anna: hi\nBoris: yes, I do.", "assistant: Do you like it?\nuser: no", "Do you",
	"今天我在北京大学学习，2023年5月8日。ERR-77", "أنا أعيش في القاهرة منذ 2021", "ฉันอยู่กรุงเทพ", "Ich habe am 3. Mai 2021 in der Straße Ölßeä gewohnt.", "Ça s’est passé l’été dernier à l’École.",
	"İstanbul'da I live, İ ı ſ ẞ", "I was was was was born in in in on on", "the the the of of of and and and The Of And", "A. B. C. D. E. F. G. H.", "U.S.A.F. v1.2.3.4.5 1.2.3/4/5 99/99/9999 0000-00-00",
	"next next next last last last 5 5 5 days days ago ago", "the week before the week before the week before 9 June", "two days before two days before two days after the other day half a half a half year ago", "I moved from from to to Berlin to to", "My wife my wife my wife Clara", "\"quoted \"nested\" I like\"", "I like tea, coffee, and, or, and", "1. I like tea\n2) I hate\n- I own\n* x",
	"Me gusta el té, el café y, o, no me gusta nada", "Vivo a, en, y mi hermana mi hermana se llama", "J’habite à à Lyon depuis hier et l'été dernier, il y a 3", "Ich bin nach nach gezogen, ich mag nicht", "hace dos dos semanas pasada",
	"我喜欢我喜欢和和和，我在在工作，三天前前年2年前9999年前", "私はは好き、妻の名前は、大阪に住んで、34歳です歳です", "我是Anna的朋友，我的妻子叫，。", "Robert Smith (Bob) (Rob), aka, aka Bob (formerly) (IBM) International Business Machines (IBM", "(((((((IBM)))))))",
	"Always", "Never mind", "From now on, please", "from now on", "I no longer", "I used to", "I'd", "I'll", "I don't", "I have to", "I'm going to", "I stopped", "I gave up", "I quit", "I can't stand", "I got married", "been to", "I've been to",
	strings.Repeat("Anna Lind vive en Madrid y le gusta el té. ", 600), strings.Repeat("我喜欢", 1500), strings.Repeat("私は", 1500), strings.Repeat("もう、", 1500), strings.Repeat("三天前", 1500), strings.Repeat("ich wohne in ", 1500), strings.Repeat("(IBM ", 1500),
	strings.Repeat("A", 1500), strings.Repeat("A ", 1500), strings.Repeat("Ab ", 1500), strings.Repeat("I like ", 1500), strings.Repeat("and ", 1500), strings.Repeat("1.", 1500), strings.Repeat("(", 1500), strings.Repeat("a-", 1500),
	strings.Repeat("I moved to Berlin and ", 500), strings.Repeat("Anna met Boris, ", 800), strings.Repeat("My dog's ", 1000), strings.Repeat("'", 1500), strings.Repeat("\u0301", 1500), strings.Repeat("a.b@", 1000), strings.Repeat("Xy. ", 1500),
}

func inputsOf(text string) []extract.Input {
	n := len(text)
	return []extract.Input{
		{Text: text, Time: ref, Speaker: "Alex Gray", Memory: true, Infer: true, Instructions: "only food, ignore work"},
		{Text: text, Time: ref, Memory: true, Pairs: true, Infer: true},
		{Text: text, Title: text, Chunks: []extract.Span{{Start: 0, End: n / 2}, {Start: n / 3, End: n}}},
	}
}

func TestEveryShapeOfText(t *testing.T) {
	t.Parallel()
	for _, text := range corpus {
		in := inputsOf(text)
		begin := time.Now()
		out, err := New().Extract(t.Context(), in)
		require.NoError(t, err)
		for i := range in {
			check(t, &in[i], &out[i])
		}
		language.QueryCues(text, ref)
		assert.Less(t, time.Since(begin), time.Minute, "%.40q", text)
	}
}

func TestEqualInputsGiveEqualOutputs(t *testing.T) {
	t.Parallel()
	var in []extract.Input
	for _, text := range corpus {
		in = append(in, inputsOf(text)...)
	}
	first, err := New().Extract(t.Context(), in)
	require.NoError(t, err)
	for range 2 {
		again, err := New().Extract(t.Context(), in)
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	want, err := New().Extract(t.Context(), inputsOf(short))
	require.NoError(t, err)
	x := New()
	done := make(chan []extract.Output, 8)
	for range cap(done) {
		go func() {
			var out []extract.Output
			for range 50 {
				out, _ = x.Extract(context.Background(), inputsOf(short))
			}
			done <- out
		}()
	}
	for range cap(done) {
		assert.Equal(t, want, <-done)
	}
}

func TestEndedContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, err := New().Extract(ctx, inputsOf(short))
	require.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, out)
	none, err := New().Extract(t.Context(), nil)
	require.NoError(t, err)
	assert.Empty(t, none)
}

func TestLargeTextIsBounded(t *testing.T) {
	t.Parallel()
	sentence := "Anna Lind lives in Porto. "
	far := extract.Input{Text: strings.Repeat("x", language.MaxText) + " " + sentence}
	out := one(t, far)
	assert.Empty(t, out.Mentions, "what lies beyond the limit is not read")

	many := extract.Input{Text: strings.Repeat(sentence, maxRelations+10)}
	out = one(t, many)
	check(t, &many, &out)
	assert.Len(t, out.Relations, maxRelations)
	assert.Len(t, out.Mentions, 2)

	var names strings.Builder
	for i := range language.MaxMentions + 10 {
		names.WriteString("some x")
		names.WriteString(strconv.Itoa(1000 + i))
		names.WriteString("-a1 ")
	}
	many = extract.Input{Text: names.String()}
	out = one(t, many)
	check(t, &many, &out)
	assert.Len(t, out.Mentions, language.MaxMentions)
}

func FuzzExtract(f *testing.F) {
	for _, text := range corpus {
		if len(text) < 1000 {
			f.Add(text)
		}
	}
	x := New()
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		in := inputsOf(text)
		out, err := x.Extract(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		for i := range in {
			check(t, &in[i], &out[i])
		}
	})
}
