package adk_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/memory"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/preloadmemorytool"
	"google.golang.org/genai"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/adapters/adk"
	"github.com/contextmem/contextmem/backend/inmem"
)

// parrot is a model that answers with its prompt.
type parrot struct{}

func (parrot) Name() string { return "parrot" }

func (parrot) GenerateContent(_ context.Context, r *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	var b strings.Builder
	if r.Config != nil && r.Config.SystemInstruction != nil {
		for _, p := range r.Config.SystemInstruction.Parts {
			b.WriteString(p.Text)
		}
	}
	for _, c := range r.Contents {
		for _, p := range c.Parts {
			b.WriteString(p.Text)
		}
	}
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(&model.LLMResponse{Content: genai.NewContentFromText(b.String(), genai.RoleModel)}, nil)
	}
}

// TestAgent runs an agent of the framework. A session must know what was said in the one before.
func TestAgent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	svc, err := contextmem.New(ctx, inmem.New(), &contextmem.Options{Workers: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "app"})
	require.NoError(t, err)
	require.NoError(t, svc.Tenant("app").WaitReady(ctx))
	mem := adk.Service{Partition: func(app, user string) contextmem.Memories { return svc.Tenant(app).Sub(user) }}

	a, err := llmagent.New(llmagent.Config{Name: "helper", Model: parrot{}, Tools: []tool.Tool{preloadmemorytool.New()}})
	require.NoError(t, err)
	sessions := session.InMemoryService()
	r, err := runner.New(runner.Config{AppName: "app", Agent: a, SessionService: sessions, MemoryService: mem})
	require.NoError(t, err)
	say := func(user, text string) (string, session.Session) {
		t.Helper()
		s, err := sessions.Create(ctx, &session.CreateRequest{AppName: "app", UserID: user})
		require.NoError(t, err)
		var answer string
		for e, err := range r.Run(ctx, user, s.Session.ID(), genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{}) {
			require.NoError(t, err)
			if e.Content != nil {
				answer += e.Content.Parts[0].Text
			}
		}
		got, err := sessions.Get(ctx, &session.GetRequest{AppName: "app", UserID: user, SessionID: s.Session.ID()})
		require.NoError(t, err)
		return answer, got.Session
	}
	_, first := say("alice", "My sister Olga lives in Porto.")
	require.NoError(t, mem.AddSessionToMemory(ctx, first))
	require.NoError(t, mem.AddSessionToMemory(ctx, first), "again")

	found, err := mem.SearchMemory(ctx, &memory.SearchRequest{AppName: "app", UserID: "alice", Query: "Where does my sister live?"})
	require.NoError(t, err)
	require.Len(t, found.Memories, 2, "the user's words and the parrot's, each once")
	var user memory.Entry
	for _, e := range found.Memories {
		if e.Author == "user" {
			user = e
		}
	}
	require.Equal(t, "My sister Olga lives in Porto.", user.Content.Parts[0].Text)
	require.Equal(t, string(genai.RoleUser), user.Content.Role)
	require.False(t, user.Timestamp.IsZero())

	answer, _ := say("alice", "Where does my sister live?")
	require.Contains(t, answer, "Olga lives in Porto", "the tool put it into the request")
	answer, _ = say("bob", "Where does my sister live?")
	require.NotContains(t, answer, "Olga")
	found, err = mem.SearchMemory(ctx, &memory.SearchRequest{AppName: "app", UserID: "alice", Query: " "})
	require.NoError(t, err)
	require.Empty(t, found.Memories)
}
