package memory_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestMessagesOfOneMemory(t *testing.T) {
	t.Parallel()
	svc, acme := servicetest.Open(t, nil)
	anna := acme.Sub("anna")
	at := time.Date(2024, 3, 2, 9, 0, 0, 0, time.FixedZone("", 3600))
	_, err := anna.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "talk", Infer: true, UserName: "Anna", Messages: []contextmem.Message{
		{Role: content.RoleUser, Text: "i moved to oslo yesterday", Time: at},
		{Role: content.RoleAssistant, Text: "i live in rome and love sushi"},
		{Role: content.RoleTool, Text: "I live in Bergen."},
		{Role: content.RoleUser, Name: "Boris", Text: "I live in Porto.", Time: at.Add(time.Hour)}}}}})
	require.NoError(t, err)
	require.NoError(t, svc.Drain(t.Context()))
	f, err := anna.Fetch(t.Context(), contextmem.FetchRequest{ID: "talk"})
	require.NoError(t, err)
	assert.Equal(t, "user: i moved to oslo yesterday\nassistant: i live in rome and love sushi\ntool: I live in Bergen.\nBoris: I live in Porto.", f.Text)
	assert.Equal(t, "Anna moved to oslo yesterday (1 March 2024).\nBoris lives in Porto.", f.Inferred)
	p, err := anna.List(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory})
	require.NoError(t, err)
	assert.True(t, at.Add(time.Hour).Equal(p.Sources[0].Timestamp), "the memory has the time of its last message")
}

func TestEachMessageIsAMemory(t *testing.T) {
	t.Parallel()
	svc, acme := servicetest.Open(t, nil)
	res, err := acme.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "talk", Infer: true, EachMessage: true, Messages: []contextmem.Message{
		{Role: content.RoleUser, Text: "I live in Oslo."}, {Role: content.RoleAssistant, Text: "I live in Rome."}}}}})
	require.NoError(t, err)
	require.Equal(t, []string{"talk#1", "talk#2"}, res.IDs())
	require.NoError(t, svc.Drain(t.Context()))
	for id, inferred := range map[string]string{"talk#1": "User lives in Oslo.", "talk#2": ""} {
		t.Run(id, func(t *testing.T) {
			f, err := acme.Fetch(t.Context(), contextmem.FetchRequest{ID: id})
			require.NoError(t, err)
			assert.Equal(t, inferred, f.Inferred)
		})
	}
}

func TestMessagesThatAreRefused(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	hello := contextmem.Message{Role: content.RoleUser, Text: "Hello."}
	for name, x := range map[string]struct {
		m     contextmem.Memory
		field string
	}{
		"a bad role":        {contextmem.Memory{Messages: []contextmem.Message{hello, {Role: "robot", Text: "Hello."}}}, "Memories[0].Messages[1].Role"},
		"no role":           {contextmem.Memory{Messages: []contextmem.Message{{Text: "Hello."}}}, "Memories[0].Messages[0].Role"},
		"a blank text":      {contextmem.Memory{Messages: []contextmem.Message{{Role: content.RoleUser, Text: " \n"}}}, "Memories[0].Messages[0].Text"},
		"a name of lines":   {contextmem.Memory{Messages: []contextmem.Message{{Role: content.RoleUser, Name: "A\nB", Text: "Hello."}}}, "Memories[0].Messages[0].Name"},
		"beside text":       {contextmem.Memory{Text: "Hello.", Messages: []contextmem.Message{hello}}, "Memories[0].Messages"},
		"none, each":        {contextmem.Memory{Text: "Hello.", EachMessage: true}, "Memories[0].Messages"},
		"an empty list":     {contextmem.Memory{Messages: []contextmem.Message{}}, "Memories[0].Messages"},
		"a text, each":      {contextmem.Memory{Text: "Hello.", EachMessage: true, Messages: []contextmem.Message{hello}}, "Memories[0].Messages"},
		"text of all sorts": {contextmem.Memory{Messages: []contextmem.Message{{Role: content.RoleUser, Text: "a\xff"}}}, "Memories[0].Text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := acme.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{x.m}})
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, x.field, e.Field)
		})
	}
}
