package genkit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	gk "github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/adapters/genkit"
	"github.com/contextmem/contextmem/backend/inmem"
)

type userKey struct{}

// TestPlugin registers the plugin, and lets a model of the framework call its tools.
func TestPlugin(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Workers: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
	plugin := &genkit.Plugin{Memories: func(ctx context.Context) (contextmem.Memories, error) {
		user, _ := ctx.Value(userKey{}).(string)
		return svc.Tenant("acme").Sub(user), nil
	}}
	g := gk.Init(t.Context(), gk.WithPlugins(plugin))
	ctx := context.WithValue(t.Context(), userKey{}, "alice")

	model := gk.DefineModel(g, "test/agent", &ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true, Multiturn: true}}, func(_ context.Context, r *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == ai.RoleTool {
			return &ai.ModelResponse{Message: ai.NewModelTextMessage(strings.TrimSpace(string(last.Content[0].ToolResponse.Name)))}, nil
		}
		name, in := genkit.RememberName, last.Text()
		if strings.HasSuffix(in, "?") {
			name = genkit.SearchName
		}
		return &ai.ModelResponse{Message: &ai.Message{Role: ai.RoleModel, Content: []*ai.Part{ai.NewToolRequestPart(&ai.ToolRequest{Name: name, Input: in})}}}, nil
	})
	tools := plugin.DefineTools(g)
	res, err := gk.Generate(ctx, g, ai.WithModel(model), ai.WithPrompt("My sister Olga lives in Porto."), ai.WithTools(tools...))
	require.NoError(t, err)
	require.Equal(t, genkit.RememberName, res.Text())
	res, err = gk.Generate(ctx, g, ai.WithModel(model), ai.WithPrompt("Where does my sister live?"), ai.WithTools(tools...))
	require.NoError(t, err)
	require.Equal(t, genkit.SearchName, res.Text())

	got, err := gk.Retrieve(ctx, g, ai.WithRetrieverName(genkit.RetrieverName), ai.WithTextDocs("Where does my sister live?"), ai.WithConfig(&genkit.RetrieverOptions{K: 1, Kind: "memory"}))
	require.NoError(t, err)
	require.Len(t, got.Documents, 1)
	require.Equal(t, "My sister Olga lives in Porto.", got.Documents[0].Content[0].Text)
	got, err = gk.Retrieve(context.WithValue(t.Context(), userKey{}, "bob"), g, ai.WithRetrieverName(genkit.RetrieverName), ai.WithTextDocs("Where does my sister live?"))
	require.NoError(t, err)
	require.Empty(t, got.Documents)
	_, err = gk.Retrieve(ctx, g, ai.WithRetrieverName(genkit.RetrieverName), ai.WithTextDocs("x"), ai.WithConfig(&genkit.RetrieverOptions{Kind: "dreams"}))
	require.Error(t, err)
}
