package text

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// maxCellOutput limits the bytes of text kept from one output of a notebook cell.
const maxCellOutput = 8 << 10

// notebook is a Jupyter notebook in nbformat 4, or in nbformat 3, which has worksheets.
type notebook struct {
	Cells      []notebookCell `json:"cells"`
	Worksheets []struct {
		Cells []notebookCell `json:"cells"`
	} `json:"worksheets"`
	Metadata struct {
		Title    string                  `json:"title"`
		Authors  []struct{ Name string } `json:"authors"`
		Language struct{ Name string }   `json:"language_info"`
		Kernel   struct {
			Language string `json:"language"`
		} `json:"kernelspec"`
	} `json:"metadata"`
}

type notebookCell struct {
	Type    string       `json:"cell_type"`
	Level   int          `json:"level"`
	Source  notebookText `json:"source"`
	Input   notebookText `json:"input"`
	Outputs []struct {
		Text notebookText `json:"text"`
		Data struct {
			Markdown notebookText `json:"text/markdown"`
			Plain    notebookText `json:"text/plain"`
			HTML     notebookText `json:"text/html"`
		} `json:"data"`
		Name  string `json:"ename"`
		Value string `json:"evalue"`
	} `json:"outputs"`
}

// notebookText is a text that the file holds as one string or as a list of lines.
type notebookText struct {
	string
	read bool // the file has such a text, which may be empty
}

// UnmarshalJSON accepts a string or a list of strings. Any other value gives an empty text.
func (t *notebookText) UnmarshalJSON(data []byte) error {
	var lines []string
	if json.Unmarshal(data, &lines) == nil && lines != nil {
		*t = notebookText{strings.Join(lines, ""), true}
		return nil
	}
	var s *string
	if json.Unmarshal(data, &s) == nil && s != nil {
		*t = notebookText{*s, true}
	}
	return nil
}

// ParseNotebook reads Jupyter notebooks. It keeps Markdown cells as they are, fences code and adds the output of the code.
// A file that is not a notebook is read as JSON.
func ParseNotebook(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	var n notebook
	if err := json.Unmarshal(in.Data, &n); err != nil || len(n.Cells)+len(n.Worksheets) == 0 {
		doc, err := ParseJSON(ctx, in, lim)
		if err == nil && len(doc.Partial) == 0 {
			doc.AddPartial("not a notebook: it has no cells, and was kept as JSON")
		}
		return doc, err
	}
	cells, lost := n.Cells, 0
	for _, s := range n.Worksheets {
		if s.Cells == nil {
			lost++
		}
		cells = append(cells, s.Cells...)
	}
	language := clean.FirstOf(n.Metadata.Language.Name, n.Metadata.Kernel.Language)
	if strings.ContainsAny(language, " `\n") || len(language) > 20 {
		language = ""
	}
	w := output.New(lim, len(in.Data)/4)
	for i := range cells {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if w.Full {
			break
		}
		c := &cells[i]
		source := clean.Text(clean.FirstOf(c.Source.string, c.Input.string))
		if !c.Source.read && !c.Input.read {
			lost++
		}
		switch c.Type {
		case "markdown", "raw":
			w.Insert([]byte(strings.TrimSpace(source)))
		case "heading":
			w.Heading(c.Level)
			w.Text(source)
			w.Block()
		default:
			w.Fenced(language, source)
			lost += c.outputs(w)
		}
	}
	doc := w.Document()
	doc.Title = n.Metadata.Title
	if len(n.Metadata.Authors) > 0 {
		doc.Author = n.Metadata.Authors[0].Name
	}
	if lost > 0 {
		doc.AddPartial("the text of " + strconv.Itoa(lost) + " cells or outputs is missing, or in a form that is not read")
	}
	return output.Titled(doc), nil
}

// outputs writes the text output of a code cell and leaves pictures out. It returns the number of outputs that have their text as HTML alone.
func (c *notebookCell) outputs(w *output.Writer) (lost int) {
	for _, o := range c.Outputs {
		if o.Name != "" {
			w.Fenced("", clean.Text(clean.Cut(o.Name+": "+o.Value, maxCellOutput)))
			continue
		}
		if o.Data.Markdown.string != "" {
			w.Insert([]byte(clean.Text(clean.Cut(o.Data.Markdown.string, maxCellOutput))))
			continue
		}
		text := clean.FirstOf(o.Text.string, o.Data.Plain.string)
		if text == "" && o.Data.HTML.string != "" {
			lost++
		}
		w.Fenced("", clean.Text(clean.Cut(text, maxCellOutput)))
	}
	return lost
}
