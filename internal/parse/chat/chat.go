// Package chat reads the exports of chat programs and assistants as conversations with speakers and times.
package chat

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// message is one message of a conversation.
type message struct {
	who  string
	when string // as written in the export, or UTC
	text string
}

// writer writes conversations. Each conversation is a page with its title as heading.
// Each message is a paragraph that begins with its time and its speaker.
type writer struct {
	w        *output.Writer
	first    time.Time
	last     time.Time
	title    string
	talks    int
	messages int
	lost     int // messages that the export names and does not hold, or whose text is in no form that is read
}

func newWriter(lim document.Limits, size int) *writer { return &writer{w: output.New(lim, size/2)} }

// begin begins a conversation.
func (c *writer) begin(title string) {
	title = clean.OneLine(title)
	c.talks++
	c.w.Page(title)
	if title == "" {
		return
	}
	if c.talks == 1 {
		c.title = title
	}
	c.w.Heading(1)
	c.w.Text(title)
	c.w.Block()
}

// say writes a message below the heading of the conversation. The text of the message is already Markdown.
func (c *writer) say(m message) {
	text := strings.Trim(clean.String([]byte(m.text)), " \t\n")
	if text == "" || c.w.Full {
		return
	}
	c.messages++
	c.w.Block()
	head := ""
	if m.when != "" {
		head = "[" + m.when + "] "
	}
	if who := clean.OneLine(m.who); who != "" {
		head += who + ": "
	}
	c.w.Raw(head + below(text))
}

// below turns the headings inside a message into plain text, because only conversation titles are headings of the document.
func below(text string) string {
	if !strings.HasPrefix(text, "#") && !strings.Contains(text, "\n#") {
		return text
	}
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			fenced = !fenced
		}
		if strings.HasPrefix(line, "#") && !fenced {
			b.WriteByte('\\')
		}
		b.WriteString(line)
	}
	return b.String()
}

// at records a time and returns it formatted in UTC, or "" for the zero time.
func (c *writer) at(t time.Time) string {
	if t.IsZero() || t.Year() < 1970 || t.Year() > 9999 {
		return ""
	}
	t = t.UTC()
	if c.first.IsZero() || t.Before(c.first) {
		c.first = t
	}
	if t.After(c.last) {
		c.last = t
	}
	return t.Format("2006-01-02 15:04:05")
}

// seconds converts a Unix time with fractional seconds.
func seconds(s float64) time.Time {
	if s <= 0 || s > 1<<38 {
		return time.Time{}
	}
	return time.UnixMilli(int64(s * 1000))
}

// document returns the finished document, or nil when there were no messages.
func (c *writer) document() *document.Document {
	if c.messages == 0 {
		return nil
	}
	doc := c.w.Document()
	doc.Title, doc.Created, doc.Modified = c.title, c.first, c.last
	if c.lost > 0 {
		doc.AddPartial("the text of " + strconv.Itoa(c.lost) + " messages is missing, or in a form that is not read")
	}
	if c.talks > 1 {
		doc.Title = ""
	}
	return doc
}

// usersKey is the context key of the user names of a Slack export.
type usersKey struct{}

// WithUsers returns a context in which the users of a Slack export have names, by their ids.
func WithUsers(ctx context.Context, users map[string]string) context.Context {
	if len(users) == 0 {
		return ctx
	}
	return context.WithValue(ctx, usersKey{}, users)
}

func usersOf(ctx context.Context) map[string]string {
	users, _ := ctx.Value(usersKey{}).(map[string]string)
	return users
}
