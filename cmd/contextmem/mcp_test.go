package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// session is a client of the SDK that is connected to a server.
type session struct {
	t *testing.T
	*mcp.ClientSession
}

func connect(t *testing.T, name string, transport mcp.Transport) session {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	return session{t, s}
}

// tool calls a tool and decodes its answer. It returns the text of an error.
func (s session) tool(name string, in map[string]any, out any) string {
	s.t.Helper()
	res, err := s.CallTool(context.WithoutCancel(s.t.Context()), &mcp.CallToolParams{Name: name, Arguments: in})
	require.NoError(s.t, err)
	if res.IsError {
		return res.Content[0].(*mcp.TextContent).Text
	}
	if out != nil {
		b, err := json.Marshal(res.StructuredContent)
		require.NoError(s.t, err)
		require.NoError(s.t, json.Unmarshal(b, out))
	}
	return ""
}

type remembered struct {
	ID     string
	Stored bool
}

type recalledPassage struct {
	ID, Text, URI string
	Relevance     float64
	SupersededBy  string `json:"superseded_by"`
	Until         string `json:"held_until"`
}

type recalled struct{ Passages []recalledPassage }

// movedTwice states a home, the next one, and the first again. The current statement must be first, and the other one
// marked as superseded.
func movedTwice(t *testing.T, s session) {
	t.Helper()
	bonn, oslo := "Nora lives in Bonn.", "Nora moved to Oslo and no longer lives in Bonn."
	var ids []string
	first := func(want string) {
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			var r recalled
			assert.Empty(c, s.tool("recall", map[string]any{"question": "Where does Nora live?", "kind": "memory"}, &r))
			if assert.GreaterOrEqual(c, len(r.Passages), 2) {
				assert.Equal(c, want, r.Passages[0].Text)
				assert.Empty(c, r.Passages[0].SupersededBy)
				at := slices.IndexFunc(r.Passages, func(p recalledPassage) bool { return p.SupersededBy != "" })
				if assert.Positive(c, at, "the other says that it holds no longer") {
					assert.Equal(c, ids[len(ids)-1], r.Passages[at].SupersededBy)
					assert.NotEmpty(c, r.Passages[at].Until)
				}
			}
		}, time.Minute, 50*time.Millisecond)
	}
	for i, text := range []string{bonn, oslo, bonn} {
		var m remembered
		require.Empty(t, s.tool("remember", map[string]any{"text": text, "time": fmt.Sprintf("2024-0%d-03T08:00:00Z", i+1)}, &m))
		require.True(t, m.Stored, "%d: what holds no longer is news when it is told again", i)
		ids = append(ids, m.ID)
		if i > 0 {
			first(text)
		}
	}
	require.Empty(t, s.tool("forget", map[string]any{"ids": ids}, nil))
}

// talk uses every tool, the resources and the prompt.
func talk(t *testing.T, s session) {
	t.Helper()
	ctx := t.Context()
	tools, err := s.ListTools(ctx, nil)
	require.NoError(t, err)
	var names []string
	for _, x := range tools.Tools {
		names = append(names, x.Name)
	}
	require.ElementsMatch(t, []string{"remember", "recall", "facts", "profile", "list", "read", "ingest", "forget"}, names)

	var m, again remembered
	require.Empty(t, s.tool("remember", map[string]any{"text": "Alice takes her coffee black.", "time": "2024-05-03T08:00:00Z"}, &m))
	require.True(t, m.Stored)
	require.Empty(t, s.tool("ingest", map[string]any{"name": "oven.md", "text": "# Oven\n\nThe oven is cleaned on Mondays by Ruben."}, nil))
	var r recalled
	require.Empty(t, s.tool("recall", map[string]any{"question": "How does Alice drink her coffee?"}, &r))
	require.Equal(t, m.ID, r.Passages[0].ID)
	require.Empty(t, s.tool("recall", map[string]any{"question": "Who cleans the oven?", "kind": "knowledge", "max": 1}, &r))
	require.Len(t, r.Passages, 1)
	oven := r.Passages[0]

	for name, text := range map[string]string{
		"a memory":              "Alice takes her coffee black.",
		"a memory, quoted":      "- \"Alice takes her coffee black\"\n",
		"a passage of the file": "The oven is cleaned on Mondays by Ruben.",
	} {
		require.Empty(t, s.tool("remember", map[string]any{"text": text}, &again), name)
		require.False(t, again.Stored, name)
		require.NotEmpty(t, again.ID, name)
	}
	require.Empty(t, s.tool("remember", map[string]any{"text": "Alice takes her coffee black.\nBob drinks green tea at noon."}, &again))
	require.True(t, again.Stored)
	read, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "contextmem://item/" + again.ID})
	require.NoError(t, err)
	require.Equal(t, "Bob drinks green tea at noon.", read.Contents[0].Text, "what was recalled is left out")
	require.Empty(t, s.tool("remember", map[string]any{"text": "Alice takes her coffee black, but only on weekdays."}, &again))
	require.True(t, again.Stored, "more than what is known is new")

	var l struct {
		Items []struct{ ID, Text string }
		Total int
	}
	require.Empty(t, s.tool("list", map[string]any{}, &l))
	require.Equal(t, 3, l.Total)
	var one struct{ Text string }
	require.Empty(t, s.tool("read", map[string]any{"id": oven.ID}, &one))
	require.Contains(t, one.Text, "Mondays")
	require.Empty(t, s.tool("ingest", map[string]any{"name": "oven.md", "text": "# Oven\n\nThe oven is cleaned on Mondays and Fridays by Ruben."}, nil))
	var past struct{ Earlier []struct{ Text string } }
	require.Empty(t, s.tool("read", map[string]any{"id": oven.ID, "history": true}, &past))
	require.Len(t, past.Earlier, 1)
	require.Equal(t, "# Oven\n\nThe oven is cleaned on Mondays by Ruben.", past.Earlier[0].Text)
	read, err = s.ReadResource(ctx, &mcp.ReadResourceParams{URI: oven.URI})
	require.NoError(t, err)
	require.Contains(t, read.Contents[0].Text, "Mondays")
	_, err = s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "contextmem://item/nothing"})
	require.Error(t, err)
	p, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "with_memory", Arguments: map[string]string{"question": "Who cleans the oven?"}})
	require.NoError(t, err)
	require.Contains(t, p.Messages[0].Content.(*mcp.TextContent).Text, "Ruben")

	var known struct {
		Facts []struct{ Subject, Predicate, Evidence, ID, Status string }
	}
	require.Empty(t, s.tool("remember", map[string]any{"text": "I live in Lisbon. From now on, answer in Portuguese.", "time": "2024-05-03T08:00:00Z"}, &again))
	require.True(t, again.Stored)
	home := again.ID
	require.Empty(t, s.tool("facts", map[string]any{"question": "Where do I live?"}, &known))
	require.Len(t, known.Facts, 1)
	require.Equal(t, "I live in Lisbon.", known.Facts[0].Evidence)
	require.Equal(t, home, known.Facts[0].ID)
	require.Empty(t, s.tool("facts", map[string]any{"max": 1, "history": true, "as_of": "2024-06-01T00:00:00Z"}, &known))
	require.Len(t, known.Facts, 1)
	var who struct {
		Subject, Summary string
		Instructions     []string
	}
	require.Empty(t, s.tool("profile", map[string]any{}, &who))
	require.Equal(t, "User", who.Subject)
	require.Contains(t, who.Summary, "Lisbon")
	require.Len(t, who.Instructions, 1)
	require.Contains(t, who.Instructions[0], "Portuguese")
	require.Empty(t, s.tool("remember", map[string]any{"text": "I live in Lisbon."}, &again))
	require.False(t, again.Stored, "the evidence of a fact that was shown")
	require.Empty(t, s.tool("forget", map[string]any{"ids": []string{home}}, nil))
	movedTwice(t, s)

	var f struct {
		Deleted int
		Missing []string
	}
	require.Empty(t, s.tool("forget", map[string]any{"ids": []string{m.ID, "nothing"}}, &f))
	require.Equal(t, 1, f.Deleted)
	require.Equal(t, []string{"nothing"}, f.Missing)
	require.Empty(t, s.tool("remember", map[string]any{"text": "Alice takes her coffee black."}, &again))
	require.False(t, again.Stored, "another memory still says so")

	for _, bad := range []struct {
		tool string
		in   map[string]any
		text string
	}{{"remember", map[string]any{"text": " "}, "nothing to remember"}, {"remember", map[string]any{"text": "x y z", "time": "soon"}, "RFC 3339"}, {"recall", map[string]any{"question": " "}, "Query"},
		{"recall", map[string]any{"question": "x", "kind": "y"}, "kind"}, {"read", map[string]any{"id": "nothing"}, "not"}, {"list", map[string]any{"kind": "all"}, "kind"}, {"facts", map[string]any{"as_of": "soon"}, "RFC 3339"}, {"facts", map[string]any{"max": 999}, "max"}} {
		require.Contains(t, s.tool(bad.tool, bad.in, nil), bad.text, bad.tool)
	}
}

// TestStdio checks that a client starts the program, and that a second one shares its memory.
func TestStdio(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := connect(t, "one", &mcp.CommandTransport{Command: program(context.Background(), t, dir, "mcp")})
	b := connect(t, "two", &mcp.CommandTransport{Command: program(context.Background(), t, dir, "mcp")})
	talk(t, a)
	var r recalled
	require.Empty(t, b.tool("recall", map[string]any{"question": "What does Bob drink at noon?", "kind": "memory"}, &r))
	require.Equal(t, "Bob drinks green tea at noon.", r.Passages[0].Text)
	var wg sync.WaitGroup
	for _, s := range []session{a, b} {
		for i := range 5 {
			wg.Go(func() {
				require.Empty(s.t, s.tool("remember", map[string]any{"text": strings.Repeat("Number ", i+1) + "of the day."}, nil))
			})
		}
	}
	var same [2]remembered
	for i, s := range []session{a, b} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			wg.Go(func() {
				require.Empty(s.t, s.tool("remember", map[string]any{"text": "The spare key hangs behind the clock."}, &same[i]))
			})
		})
	}
	wg.Wait()
	require.Equal(t, same[0].ID, same[1].ID, "what is said twice at once is stored once")
	require.NoError(t, a.Close())
	require.Empty(t, b.tool("recall", map[string]any{"question": "What does Bob drink at noon?"}, &r), "the owner is gone")
	require.NoError(t, b.Close())

	c := connect(t, "My Editor!", &mcp.CommandTransport{Command: program(context.Background(), t, dir, "mcp", "--sub-per-client")})
	require.Empty(t, c.tool("recall", map[string]any{"question": "What does Bob drink?"}, &r))
	require.Empty(t, r.Passages, "a client with a place of its own")
	require.Empty(t, c.tool("remember", map[string]any{"text": "The editor's theme is dark."}, nil))
	require.NoError(t, c.Close())
	require.Contains(t, inProcess(t, dir, "", "recall", "-s", "my-editor", "which theme?").out, "dark")
}

// bearer is a transport that sends a key, and headers for the tenant and sub-tenant.
type bearer struct{ key, tenant, sub string }

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range map[string]string{"Authorization": "Bearer " + b.key, tenantHeader: b.tenant, subHeader: b.sub} {
		if v != "" {
			r.Header.Set(k, v)
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestStreamableHTTP checks that the server admits clients according to their keys, each to its own tenant and
// sub-tenant.
func TestStreamableHTTP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	address, end := serving(t, dir, "--api-keys", "secret,foreign=elsewhere")
	at := func(b bearer) *mcp.StreamableClientTransport {
		return &mcp.StreamableClientTransport{Endpoint: address + "/mcp", HTTPClient: &http.Client{Transport: b}, MaxRetries: -1}
	}
	talk(t, connect(t, "one", at(bearer{key: "secret"})))
	for _, b := range []bearer{{key: "secret", sub: "bob"}, {key: "secret", tenant: "other"}, {key: "foreign"}} {
		t.Run(b.key, func(t *testing.T) {
			var r recalled
			s := connect(t, "two", at(b))
			require.Empty(t, s.tool("recall", map[string]any{"question": "What does Bob drink?"}, &r))
			require.Empty(t, r.Passages, "%+v", b)
			require.NoError(t, s.Close())
		})
	}
	_, err := mcp.NewClient(&mcp.Implementation{Name: "x"}, nil).Connect(t.Context(), at(bearer{key: "wrong"}), nil)
	require.Error(t, err)

	key := strings.TrimSpace(inProcess(t, dir, "", "keys", "create", "--scopes", "query", "--tenants", "main").out)
	limited := connect(t, "three", at(bearer{key: key}))
	require.Empty(t, limited.tool("recall", map[string]any{"question": "What does Bob drink?"}, nil))
	require.Contains(t, limited.tool("remember", map[string]any{"text": "Alice left the company."}, nil), "may not change")
	other := connect(t, "four", at(bearer{key: key, tenant: "other"}))
	require.Contains(t, other.tool("recall", map[string]any{"question": "What does Bob drink?"}, nil), "restricted")
	end() // with the streams of clients open
}
