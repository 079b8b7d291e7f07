package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/chunk"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/models"
	"github.com/contextmem/contextmem/internal/parse/media"
)

// prepared is an item after parsing and chunking.
type prepared struct {
	title  string // empty: keep the source's title
	record []byte // the encoded doc if it has changed; nil: keep the source's
	tags   []uint64
	time   time.Time
	text   string
	doc    *item.Doc
	chunks []backend.Chunk
	spans  []extract.Span // spans of the chunks of the text, which inferred statements follow
	blobs  []backend.Blob
	size   int  // total size of the texts of the stored chunks, in bytes
	cut    bool // text is the part that the extractor reads, while the chunks are substrings of the whole text
}

// Layout is the content of a chunk's Layout, in the form used on the wire: the position of the chunk in its
// document.
type Layout struct {
	Offsets  Offsets `json:"offsets"`
	Page     int     `json:"page,omitempty"`
	Inferred bool    `json:"inferred,omitempty"`
}

// Offsets are byte offsets in the extracted text.
type Offsets struct {
	Document int  `json:"document_level_start_index"`
	Page     *int `json:"page_level_start_index,omitempty"`
}

func (c *Config) prepare(ctx context.Context, j *job) {
	doc, err := item.Decode(j.Doc)
	if err != nil {
		j.fail = &failure{code: CodeDamaged, message: "the stored record is damaged"}
		return
	}
	j.prep = &prepared{doc: doc, time: j.Time}
	original := blob(j.Blobs, backend.Original)
	switch j.Part.Class {
	case backend.Memory:
		c.prepareText(ctx, j, string(original), doc.Markdown, nil)
	default:
		c.prepareDocument(ctx, j, original)
	}
	j.Blobs = slices.DeleteFunc(j.Blobs, func(b backend.Blob) bool { return b.Kind == backend.Original }) // the parsed text replaces the original
}

func blob(blobs []backend.Blob, kind backend.ContentKind) []byte {
	for _, b := range blobs {
		if b.Kind == kind {
			return b.Data
		}
	}
	return nil
}

func (c *Config) prepareDocument(ctx context.Context, j *job, original []byte) {
	p := j.prep
	if p.doc.App != nil { // the text of an app item is in its record
		c.prepareText(ctx, j, string(original), j.MediaType == "text/markdown", nil)
		return
	}
	d, err := c.Parsers.Parse(ctx, document.Input{Name: j.Filename, ContentType: j.MediaType, Data: original}, document.Limits{Timeout: c.ParseTimeout})
	if err != nil {
		if ctx.Err() != nil {
			j.fail = &failure{code: CodeInternal, message: "stopped", retry: true}
			return
		}
		j.fail = &failure{code: "E2006", message: "the document could not be read"}
		var pe *document.Error
		if errors.As(err, &pe) {
			j.fail = &failure{code: pe.Code, message: pe.Message()}
		}
		return
	}
	if p.time.IsZero() {
		if p.time = d.Modified; p.time.IsZero() {
			p.time = d.Created
		}
	}
	if !textIsOriginal(original, d) {
		p.blobs = append(p.blobs, backend.Blob{Kind: backend.Text, Data: models.Bytes(d.Text)})
	}
	if err := p.note(d); err != nil {
		j.fail = &failure{code: CodeInternal, message: "internal error while processing the item"}
		return
	}
	pages := make([]chunk.Page, len(d.Pages))
	for i, pg := range d.Pages {
		pages[i] = chunk.Page{Number: pg.Number, Start: pg.Start}
	}
	own := strings.Clone(d.Title) // a substring would keep the text in memory
	if own == "" && !d.Markdown {
		own = titleLine(d.Text)
	}
	if own != "" && !p.doc.NamedTitle {
		p.title = own
		p.tags = slices.DeleteFunc(item.TitleTags(own), func(tag uint64) bool { return slices.Contains(j.Tags, tag) })
	}
	c.prepareTitled(ctx, j, d.Text, d.Markdown, pages, own)
}

// textIsOriginal reports whether the text of a document equals its original except for white space at the end, with which most files end. That is
// only possible for types whose text is shown unchanged. The text then need not be stored.
func textIsOriginal(original []byte, d *document.Document) bool {
	if len(original) == len(d.Text) || !media.ReadAsIs(d.MediaType) {
		return string(original) == d.Text
	}
	return string(bytes.TrimRight(original, blanks)) == d.Text
}

// blanks is the white space that text parsers remove at the end.
const blanks = " \n\t"

// note adds the parser's information about the document to the record.
func (p *prepared) note(d *document.Document) (err error) {
	extracted := len(p.blobs) > 0 && !media.ReadAsIs(d.MediaType)
	if p.doc.Partial == d.Partial && p.doc.Extracted == extracted {
		return nil
	}
	p.doc.Partial, p.doc.Extracted = d.Partial, extracted
	if p.record, err = p.doc.Encode(); p.record == nil {
		p.record = []byte("{}")
	}
	return err
}

// fileWords returns the words of a file's name for the keyword index: the folders, and the base name if it differs from the title.
func fileWords(doc *item.Doc, filename, title string) string {
	words := strings.ReplaceAll(doc.Folder, "/", " ")
	if filename != title {
		words += " " + filename
	}
	return strings.TrimSpace(words)
}

// titleLine returns the first line of a plain text if it looks like a title: it is
// short, followed by a blank line, and no sentence. A title is searched with each chunk, so that the words of a sentence would no longer tell
// the chunks of a long text apart.
func titleLine(text string) string {
	line, rest, ok := strings.Cut(strings.TrimLeft(text, "\ufeff \t\r\n"), "\n")
	line = strings.TrimSpace(line)
	if !ok || line == "" || len(line) > 200 || !strings.HasPrefix(strings.TrimLeft(rest, " \t\r"), "\n") || strings.TrimSpace(rest) == "" {
		return ""
	}
	if r, _ := utf8.DecodeLastRuneInString(line); strings.ContainsRune(";,:!…。", r) || strings.Contains(line, ". ") || r == '.' && language.IsSentence(line) {
		return ""
	}
	return line
}

func (c *Config) prepareText(ctx context.Context, j *job, text string, markdown bool, pages []chunk.Page) {
	c.prepareTitled(ctx, j, text, markdown, pages, "")
}

func (c *Config) prepareTitled(ctx context.Context, j *job, text string, markdown bool, pages []chunk.Page, own string) {
	p := j.prep
	p.text = text
	c.Handled.Add(int64(len(text)))
	cs := c.split(p.doc, text, markdown, pages)
	if len(cs) == 0 {
		j.fail = &failure{code: codeEmptyContent, message: "the item holds no text"}
		return
	}
	prefix := item.ChunkPrefix(j.Part, j.ID)
	memory := j.Part.Class == backend.Memory
	speaker := ""
	if memory {
		if speaker = SpeakerOf(text); speaker == "" && p.doc.UserName != "User" {
			speaker = p.doc.UserName
		}
	}
	title := p.title
	if title == "" {
		title = j.Title
	}
	file := fileWords(p.doc, j.Filename, title)
	dates := ""
	if memory && !p.time.IsZero() {
		dates = DateWords(p.time)
	}
	var keywords []string
	if dates != "" {
		keywords = append(keywords, dates)
	}
	if own != "" && p.title == "" { // otherwise the title is searched already
		keywords = append(keywords, own)
	}
	if file != "" {
		keywords = append(keywords, file)
	}
	keywords = append(keywords, p.doc.Sparse...)
	extra := encodeExtra(&backend.RowExtra{Keywords: keywords}) // shared by all chunks, except those of memories
	p.chunks, p.spans = make([]backend.Chunk, 0, len(cs)), make([]extract.Span, 0, len(cs))
	for _, ch := range cs {
		lay := Layout{Offsets: Offsets{Document: ch.Start}, Page: ch.Page}
		if ch.Page > 0 {
			lay.Offsets.Page = &ch.PageStart
		}
		if memory {
			facts := factsOf(ch.Text, speaker, p.time)
			facts.Keywords = keywords
			extra = encodeExtra(&facts)
		}
		heading := ch.Heading
		if own != "" && !strings.HasPrefix(heading, own) {
			heading = strings.TrimSuffix(own+" > "+heading, " > ")
		}
		p.add(prefix, ch.Text, heading, &lay, extra)
		p.spans = append(p.spans, extract.Span{Start: ch.Start, End: ch.End})
	}
	if j.Infer && memory {
		c.infer(ctx, j, prefix, speaker, dates)
	}
}

// split splits a text into chunks. It splits a conversation between turns.
func (c *Config) split(doc *item.Doc, text string, markdown bool, pages []chunk.Page) []chunk.Chunk {
	if len(doc.Turns) == 0 {
		return chunk.Split(text, markdown, pages, c.Chunking)
	}
	turns := make([]chunk.Turn, len(doc.Turns))
	for i := range doc.Turns {
		t := &doc.Turns[i]
		turns[i] = chunk.Turn{User: t.User(), Start: t.Start, End: t.End}
	}
	return chunk.Conversation(text, turns, markdown, c.Chunking)
}

// add adds a chunk. Several chunks may share extra, which is never changed.
func (p *prepared) add(prefix, text, heading string, lay *Layout, extra []byte) {
	n := len(p.chunks)
	p.chunks = append(p.chunks, backend.Chunk{Ordinal: n, Key: item.ChunkKey(prefix, n), Text: text, Heading: heading, Layout: lay.encode(), Extra: extra})
}

// encodeExtra returns the encoded extra of a chunk, or nil if it is empty.
func encodeExtra(x *backend.RowExtra) []byte {
	if x.Speaker == "" && !x.Question && !x.HasTime && !x.Asks && !x.First && !x.Second && len(x.Keywords) == 0 {
		return nil
	}
	b, _ := json.Marshal(x)
	return b
}

// infer adds the statements that the extractor infers as separate chunks. Both the
// original and the statements can then be recalled.
func (c *Config) infer(ctx context.Context, j *job, prefix, speaker, dates string) {
	outs, err := c.Extractor.Extract(ctx, []extract.Input{j.input()})
	if err == nil && len(outs) != 1 {
		err = errOutputs
	}
	if err != nil {
		c.warn(ctx, "inference failed", j, err)
		j.fail = &failure{code: codeInference, message: "inference failed: " + causeOf("the extractor", err), retry: true}
		return
	}
	j.out = &outs[0]
	var lines []string
	for _, f := range j.out.Facts {
		if f.Text != "" {
			lines = append(lines, f.Text)
		}
	}
	if len(lines) == 0 {
		return
	}
	text := strings.Join(lines, "\n")
	p := j.prep
	p.blobs = append(p.blobs, backend.Blob{Kind: backend.Inferred, Data: []byte(text)})
	for _, ch := range chunk.Split(text, false, nil, c.Chunking) {
		extra := backend.RowExtra{Speaker: speaker, HasTime: hasTime(ch.Text, p.time)}
		if dates != "" {
			extra.Keywords = []string{dates}
		}
		p.add(prefix, ch.Text, "", &Layout{Offsets: Offsets{Document: ch.Start}, Inferred: true}, encodeExtra(&extra))
	}
}

func (j *job) input() extract.Input {
	p := j.prep
	in := extract.Input{Text: p.text, Time: p.time, Chunks: p.spans, Memory: j.Part.Class == backend.Memory, Infer: j.Infer,
		Instructions: p.doc.Instructions, Pairs: p.doc.Pairs, Speaker: p.doc.UserName}
	for i := range p.doc.Turns {
		t := &p.doc.Turns[i]
		turn := extract.Turn{Span: extract.Span{Start: t.Start, End: min(t.End, len(p.text))}, User: t.User(), Name: t.Name}
		if t.Time != nil {
			turn.Time = *t.Time
		}
		in.Turns = append(in.Turns, turn)
	}
	if p.doc.Zone != 0 {
		in.Location = time.FixedZone("", p.doc.Zone)
	}
	if p.doc.NamedTitle {
		in.Title = j.Title
	} else if len(p.chunks) > 0 && !in.Memory {
		in.Title, _, _ = strings.Cut(p.chunks[0].Heading, " > ")
	}
	return in
}

// DateWords returns the words that people use for a time, for the keyword index.
func DateWords(t time.Time) string {
	if t.Hour() == 0 && t.Minute() == 0 {
		return t.Format("2 January, 2006")
	}
	return t.Format("3:04 pm on 2 January, 2006")
}

// SpeakerOf returns the name with which a text begins, followed by a colon, as in
// "Ana Maria: I'm late". It returns "" if there is none.
func SpeakerOf(text string) string {
	i := strings.IndexByte(text[:min(len(text), 41)], ':')
	if i < 1 || i+1 >= len(text) || (text[i+1] != ' ' && text[i+1] != '\n') {
		return ""
	}
	name := text[:i]
	if r, _ := utf8.DecodeRuneInString(name); !unicode.IsUpper(r) && !unicode.IsLower(r) && !unicode.Is(unicode.Han, r) {
		return ""
	}
	if strings.Count(name, " ") > 2 {
		return ""
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && r != ' ' && r != '.' && r != '-' && r != '\'' && r != '’' && !unicode.IsDigit(r) {
			return ""
		}
	}
	return name
}
