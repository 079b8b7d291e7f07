package tokenize

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small returns a tokenizer.json with a few pieces. changes are alternating strings to replace and replacements.
func small(changes ...string) []byte {
	const text = `{"added_tokens":[{"id":4,"content":"<x>","normalized":true,"single_word":true,"rstrip":true}],
		"normalizer":{"type":"Sequence","normalizers":[{"type":"Lowercase"},{"type":"NFKC"},{"type":"Replace","pattern":{"String":"!"},"content":"?"}]},
		"pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"first"},
		"post_processor":{"type":"BertProcessing","sep":["</s>",1],"cls":["<s>",0]},
		"model":{"type":"Unigram","unk_id":2,"vocab":[["<s>",0],["</s>",0],["<unk>",0],["_a",-1.1]]}}`
	return []byte(strings.NewReplacer(changes...).Replace(text))
}

func TestFromJSON(t *testing.T) {
	t.Parallel()
	t.Run("parts", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			name, text string
			changes    []string
			want       []int32
		}{
			{"lower case and scheme first", "A A", nil, []int32{3, 3}},
			{"normalised added token", "a <X> a", nil, []int32{3, 2, 4, 2}},
			{"added token inside a word", "a b<x>", nil, []int32{3, 2}},
			{"unknown characters fuse", "zz", nil, []int32{2}},
			{"they need not", "zz", []string{`"unk_id":2`, `"unk_id":2,"fuse_unk":false`}, []int32{2, 2, 2}},
			{"scheme never", "a", []string{`"first"`, `"never"`}, []int32{2}},
			{"scheme always", "<x>a", []string{`"first"`, `"always"`, `"single_word":true,`, ``}, []int32{4, 3}},
			{"not split", "b a", []string{`"first"`, `"first","split":false`}, []int32{2, 3}},
			{"old prefix field", "a", []string{`"prepend_scheme":"first"`, `"add_prefix_space":false`}, []int32{2}},
			{"scores that need 64 bits", "a", []string{"-1.1", "-1.10000000000000001e-300"}, []int32{3}},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				tok, err := FromJSON(small(c.changes...))
				require.NoError(t, err)
				assert.Equal(t, c.want, tok.Append(nil, c.text))
				assert.Equal(t, 5, tok.Size())
			})
		}
	})
	t.Run("refuses", func(t *testing.T) {
		t.Parallel()
		for what, changes := range map[string][]string{
			"normalizer: type":       {`"Lowercase"`, `"Nmt"`},
			"normalizer: Replace":    {`"String":"!"`, `"Regex":"[a-z]"`},
			"pre_tokenizer: type":    {`"Metaspace"`, `"ByteLevel"`},
			"prepend_scheme":         {`"first"`, `"last"`},
			"no replacement":         {`"replacement":"_"`, `"replacement":""`},
			"post_processor: type":   {`"BertProcessing"`, `"ByteLevel"`},
			"sep or cls":             {`"cls":["<s>",0]`, `"x":0`},
			"out of range":           {`"cls":["<s>",0]`, `"cls":["<s>",99]`},
			"unk_id":                 {`"unk_id":2`, `"unk_id":7`},
			"byte_fallback":          {`"unk_id":2`, `"unk_id":2,"byte_fallback":true`},
			"model: type":            {`"Unigram"`, `"BPE"`},
			"added_tokens":           {`"content":"<x>"`, `"content":""`},
			"vocab: ":                {`["_a",-1.1]`, `["_a",-1.1],["b\u0000",-2]`},
			"invalid character":      {`"model":{`, `"model":{{`},
			"cannot unmarshal":       {`["_a",-1.1]`, `[7,-1.1]`},
			"texts must stand once":  {`"type":"BertProcessing"`, `"type":"TemplateProcessing","single":[{"Sequence":{"id":"A"}},{"Sequence":{"id":"A"}}]`},
			"a template holds 0":     {`"type":"BertProcessing"`, `"type":"TemplateProcessing","single":[]`},
			"an item of a template":  {`"type":"BertProcessing"`, `"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}}]`},
			"charsmap: cut off":      {`{"type":"Lowercase"}`, `{"type":"Precompiled","precompiled_charsmap":"AAEAAA=="}`},
			"more than one precompi": {`{"type":"Lowercase"}`, `{"type":"Precompiled","precompiled_charsmap":"AAAAAA=="},{"type":"Precompiled","precompiled_charsmap":"AAAAAA=="}`},
		} {
			_, err := FromJSON(small(changes...))
			assert.ErrorContains(t, err, what)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	tok, err := FromJSON(small())
	require.NoError(t, err)
	image := tok.Compact()
	for n := range len(image) {
		_, err := Open(image[:n])
		require.Error(t, err, "cut at %d of %d", n, len(image))
	}
	assert.False(t, IsCompact(small()))
	assert.True(t, IsCompact(image))
}

// TestDamagedImage reads images with changed bytes: whatever opens must not panic.
func TestDamagedImage(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	image := open(t, "unigram").Compact()
	opened := 0
	for range 100 {
		bad := bytes.Clone(image)
		for range 1 + r.IntN(2000) {
			bad[headerSize+r.IntN(len(bad)-headerSize)] = byte(r.IntN(256))
		}
		copy(bad[:headerSize+1500], image) // header and configuration stay readable
		tok, err := Open(bad)
		if err != nil {
			continue
		}
		opened++
		for _, id := range tok.Append(nil, "Ça va? 日本語 e\u0301 <s> नमस्ते 👍🏽 zzzz") {
			require.GreaterOrEqual(t, id, int32(0))
			require.Less(t, int(id), tok.Size())
		}
	}
	require.Positive(t, opened)
}

func FuzzAppend(f *testing.F) {
	toks := []*Tokenizer{open(f, "wordpiece"), open(f, "unigram")}
	for _, s := range []string{"", "a b", "\xff\xfe", "<s>[SEP]", "e\u0301\u0323", "한국어 ไทย", strings.Repeat("é", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, tok := range toks {
			ids := tok.Append(nil, text)
			for _, id := range ids {
				require.True(t, id >= 0 && int(id) < tok.Size())
			}
			require.Equal(t, ids, tok.Append(nil, text))
			for _, w := range tok.Windows(ids, 16, 3) {
				require.LessOrEqual(t, len(w), 16)
			}
		}
	})
}

func FuzzFromJSON(f *testing.F) {
	f.Add(small())
	f.Fuzz(func(t *testing.T, data []byte) {
		tok, err := FromJSON(data)
		if err != nil {
			return
		}
		require.True(t, json.Valid(data))
		for _, id := range tok.Append(nil, "a <x> B!") {
			require.True(t, id >= 0 && int(id) < tok.Size())
		}
	})
}

func FuzzOpen(f *testing.F) {
	tok, err := FromJSON(small())
	require.NoError(f, err)
	f.Add(tok.Compact())
	f.Fuzz(func(t *testing.T, data []byte) {
		tok, err := Open(data)
		if err != nil {
			return
		}
		ids := tok.Append(nil, "a <x> B! é")
		for _, id := range ids {
			require.True(t, id >= 0 && int(id) < tok.Size())
		}
		tok.Single(ids, 4)
		tok.Pair(ids, ids, 4)
	})
}

// BenchmarkAppend reports tokens a second over the test lines, and over one word of
// 100,000 characters, which must not be slower by more than a constant.
func BenchmarkAppend(b *testing.B) {
	for _, name := range []string{"wordpiece", "unigram"} {
		tok := open(b, name)
		lines, _ := judged(b, name)
		for what, texts := range map[string][]string{"lines": lines, "long word": {strings.Repeat("été", 33333)}} {
			b.Run(name+"/"+what, func(b *testing.B) {
				var dst []int32
				tokens, bytes := 0, 0
				for b.Loop() {
					for _, s := range texts {
						dst = tok.Append(dst[:0], s)
						tokens += len(dst)
						bytes += len(s)
					}
				}
				b.SetBytes(int64(bytes / b.N))
				b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
			})
		}
	}
}
