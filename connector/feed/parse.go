package feed

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/internal/webapi"
	"github.com/contextmem/contextmem/content"
)

// document is a parsed feed, whichever of the three formats it had.
type document struct {
	title   string
	entries []entry
}

// entry is an entry of a feed. Its body is HTML or plain text.
type entry struct {
	id, title, link, author string
	body                    string
	plain                   bool
	time                    time.Time
}

var errNoFeed = errors.New("the answer is not an RSS, Atom or JSON feed")

// parse parses a feed. base is the address that relative links are resolved against.
func parse(body []byte, base *url.URL) (*document, error) {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	var d *document
	var err error
	if start := bytes.TrimSpace(body); len(start) > 0 && start[0] == '{' {
		d, err = parseJSON(body)
	} else {
		d, err = parseXML(body)
	}
	if err != nil {
		return nil, err
	}
	if len(d.entries) > maxEntries {
		d.entries = d.entries[:maxEntries]
	}
	kept := d.entries[:0]
	for _, e := range d.entries {
		e.title, e.link = strings.TrimSpace(e.title), resolve(base, e.link)
		if e.id = strings.TrimSpace(e.id); e.id == "" {
			e.id = e.link
		}
		if e.id == "" || len(e.id) > 1024 {
			sum := sha256.Sum256([]byte(e.id + "\x00" + e.title + "\x00" + e.body))
			e.id = "sha256:" + hex.EncodeToString(sum[:16])
		}
		if e.title != "" || strings.TrimSpace(e.body) != "" {
			kept = append(kept, e)
		}
	}
	d.entries = kept
	return d, nil
}

func resolve(base *url.URL, link string) string {
	u, err := base.Parse(strings.TrimSpace(link))
	if err != nil || link == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}

// xmlEntry holds the elements of RSS and Atom entries. Elements with equal names in different namespaces have separate fields.
type xmlEntry struct {
	GUID      string    `xml:"guid"`
	ID        string    `xml:"id"`
	Titles    []xmlText `xml:"title"`
	Links     []xmlLink `xml:"link"`
	Desc      xmlText   `xml:"description"`
	Encoded   string    `xml:"http://purl.org/rss/1.0/modules/content/ encoded"`
	Summary   xmlText   `xml:"summary"`
	Content   []xmlText `xml:"content"`
	PubDate   string    `xml:"pubDate"`
	Date      string    `xml:"http://purl.org/dc/elements/1.1/ date"`
	Updated   string    `xml:"updated"`
	Published string    `xml:"published"`
	Creator   string    `xml:"http://purl.org/dc/elements/1.1/ creator"`
	Author    struct {
		Name string `xml:"name"`
		Text string `xml:",chardata"`
	} `xml:"author"`
}

type xmlText struct {
	XMLName xml.Name
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
	Inner   string `xml:",innerxml"`
}

// html returns the text construct as HTML (RFC 4287, section 3.1).
func (t xmlText) html() string {
	switch t.Type {
	case "xhtml":
		return t.Inner
	case "text":
		return html.EscapeString(t.Text)
	}
	return t.Text
}

type xmlLink struct {
	XMLName xml.Name
	Href    string `xml:"href,attr"`
	Rel     string `xml:"rel,attr"`
	Text    string `xml:",chardata"`
}

const (
	spaceAtom  = "http://www.w3.org/2005/Atom"
	spaceMedia = "http://search.yahoo.com/mrss/"
)

func parseXML(body []byte) (*document, error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict, d.Entity = false, xml.HTMLEntity
	d.CharsetReader = func(label string, r io.Reader) (io.Reader, error) { return charset.NewReaderLabel(label, r) }
	doc := &document{}
	depth, root := 0, ""
	for {
		tok, err := d.Token()
		if err == io.EOF && root != "" {
			return doc, nil
		}
		if err != nil && len(doc.entries) > 0 {
			return doc, nil // the end is damaged; keep the entries before it
		}
		if err != nil {
			return nil, errNoFeed
		}
		switch t := tok.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			name := strings.ToLower(t.Name.Local)
			if depth++; depth == 1 {
				if root = name; root != "rss" && root != "feed" && root != "rdf" {
					return nil, errNoFeed
				}
				continue
			}
			switch {
			case name == "item" && root != "feed", name == "entry" && root == "feed":
				var e xmlEntry
				if err := d.DecodeElement(&e, &t); err != nil {
					if len(doc.entries) > 0 {
						return doc, nil
					}
					return nil, errNoFeed
				}
				depth--
				if doc.entries = append(doc.entries, e.entry()); len(doc.entries) > maxEntries {
					return doc, nil
				}
			case name == "title" && doc.title == "" && depth <= 3:
				var s xmlText
				if err := d.DecodeElement(&s, &t); err != nil {
					return nil, errNoFeed
				}
				depth--
				doc.title = strings.TrimSpace(s.Text)
			}
		}
	}
}

func (x *xmlEntry) entry() entry {
	e := entry{id: first(x.GUID, x.ID), author: strings.TrimSpace(first(x.Author.Name, x.Creator, x.Author.Text)),
		time: parseTime(x.Published, x.PubDate, x.Date, x.Updated)}
	for _, t := range x.Titles {
		if t.XMLName.Space != spaceMedia {
			e.title = html.UnescapeString(t.Text)
			break
		}
	}
	for _, l := range x.Links {
		href := strings.TrimSpace(l.Href)
		if l.XMLName.Space != spaceAtom && href == "" {
			href = strings.TrimSpace(l.Text)
		}
		if e.link == "" && (l.Rel == "" || l.Rel == "alternate") {
			e.link = href
		}
	}
	content := ""
	for _, c := range x.Content {
		if c.XMLName.Space != spaceMedia && content == "" {
			content = c.html()
		}
	}
	e.body = first(x.Encoded, content, x.Desc.html(), x.Summary.html())
	return e
}

// parseJSON parses JSON Feed, versions 1 and 1.1.
func parseJSON(body []byte) (*document, error) {
	var f struct {
		Version string
		Title   string
		Items   []struct {
			ID       any
			URL      string
			Title    string
			HTML     string `json:"content_html"`
			Text     string `json:"content_text"`
			Summary  string
			Date     string `json:"date_published"`
			Modified string `json:"date_modified"`
			Author   struct{ Name string }
			Authors  []struct{ Name string }
		}
	}
	if json.Unmarshal(body, &f) != nil || !strings.HasPrefix(f.Version, "https://jsonfeed.org/version/") {
		return nil, errNoFeed
	}
	doc := &document{title: f.Title}
	for _, i := range f.Items {
		e := entry{title: i.Title, link: i.URL, body: i.HTML, author: i.Author.Name, time: parseTime(i.Date, i.Modified)}
		switch id := i.ID.(type) {
		case string:
			e.id = id
		case float64:
			b, _ := json.Marshal(id) // a decoded number
			e.id = string(b)
		}
		if len(i.Authors) > 0 {
			e.author = i.Authors[0].Name
		}
		if e.body == "" {
			e.body, e.plain = first(i.Text, i.Summary), true
		}
		doc.entries = append(doc.entries, e)
	}
	return doc, nil
}

func first(s ...string) string {
	for _, x := range s {
		if strings.TrimSpace(x) != "" {
			return x
		}
	}
	return ""
}

var layouts = []string{time.RFC3339, time.RFC1123Z, time.RFC1123, "Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05 -0700",
	"Mon, 2 Jan 2006 15:04 -0700", "2006-01-02T15:04:05", "2006-01-02"}

// parseTime returns the first parseable time, or the zero time if there is none.
func parseTime(s ...string) time.Time {
	for _, x := range s {
		for _, l := range layouts {
			if t, err := time.Parse(l, strings.TrimSpace(x)); err == nil {
				return t.UTC()
			}
		}
	}
	return time.Time{}
}

// object converts the entry to an app item.
func (e *entry) object(feed string) connector.Object {
	add := map[string]any{}
	for k, v := range map[string]string{"feed": feed, "author": e.author} {
		if v != "" {
			add[k] = webapi.Clip(v, 200)
		}
	}
	a := &content.AppItem{Title: webapi.Clip(e.title, 1000), Kind: content.AppKnowledgeBase, Type: "feed", URL: e.link, Additional: add,
		Fields: map[string]any{"title": e.title}}
	if !e.time.IsZero() {
		a.Timestamp = e.time.Format(time.RFC3339)
	}
	switch {
	case strings.TrimSpace(e.body) == "":
	case e.plain:
		a.Content = &content.AppContent{Text: e.body}
	default:
		a.Content = &content.AppContent{HTMLBase64: base64.StdEncoding.EncodeToString([]byte(e.body))}
	}
	return connector.Object{ExternalID: e.id, App: a}
}
