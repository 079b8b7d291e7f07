package memory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestProfile(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, &contextmem.Options{Slots: []facts.Slot{{Name: "boat", Objects: []string{"dinghy"}}}})
	anna, ctx := acme.Sub("anna"), t.Context()
	rememberStatements(t, anna, "I live in Oslo.", "I moved to Lisbon.", "I have a dog named Rex.", "I'm vegetarian.", "I have a dinghy.", "I support Feyenoord.", "Always answer in French.", "Always use bullet points.", "Always answer in German.")
	p, err := anna.Profile(ctx, facts.ProfileRequest{Subject: "Anna"})
	require.NoError(t, err)
	bySlot := map[string][]string{}
	for _, s := range p.Slots {
		for _, f := range s.Facts {
			bySlot[s.Slot] = append(bySlot[s.Slot], strings.ToLower(f.Object))
		}
	}
	assert.Equal(t, []string{"lisbon"}, bySlot["home"])
	assert.Contains(t, bySlot["diet"], "vegetarian")
	assert.Equal(t, []string{"dinghy"}, bySlot["boat"])
	assert.NotEmpty(t, bySlot["pet"])
	assert.Contains(t, p.Summary, "Lisbon")
	assert.NotContains(t, p.Summary, "Oslo")
	assert.Contains(t, p.Summary, "Feyenoord", "what is of no slot is told too")
	assert.Equal(t, facts.BySources, p.SummaryBy)
	var orders []string
	for _, x := range p.Instructions {
		orders = append(orders, x.Matter)
	}
	assert.Equal(t, []string{"language", "format"}, orders, "of two about one matter the later counts")
	assert.Contains(t, p.Instructions[0].Text, "German")
	small, err := anna.Profile(ctx, facts.ProfileRequest{Subject: "Anna", MaxTokens: 12, Slots: []string{"home", "diet"}})
	require.NoError(t, err)
	assert.LessOrEqual(t, small.Tokens, 12)
	assert.Len(t, small.Slots, 2)
	assert.Empty(t, small.Other)
	then, err := anna.Profile(ctx, facts.ProfileRequest{Subject: "Anna", AsOf: time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)})
	require.NoError(t, err)
	assert.Contains(t, then.Summary, "Oslo")
	nobody, err := anna.Profile(ctx, facts.ProfileRequest{Subject: "Boris"})
	require.NoError(t, err)
	assert.Empty(t, nobody.Slots)
	own, err := anna.Profile(ctx, facts.ProfileRequest{})
	require.NoError(t, err)
	assert.Equal(t, "Anna", own.Subject, "who speaks in the memories")
	assert.Equal(t, p.Summary, own.Summary)
	empty, err := acme.Sub("nobody").Profile(ctx, facts.ProfileRequest{})
	require.NoError(t, err)
	assert.Equal(t, "User", empty.Subject)
	for _, bad := range []facts.ProfileRequest{{Slots: []string{"zorble"}}, {PerSlot: 101}, {MaxTokens: -1}} {
		t.Run(bad.Subject, func(t *testing.T) {
			_, err := anna.Profile(ctx, bad)
			require.ErrorIs(t, err, fault.ErrInvalid)
		})
	}
	_, err = contextmem.New(ctx, inmem.New(), &contextmem.Options{Slots: []facts.Slot{{Name: "My boat"}}})
	require.ErrorIs(t, err, fault.ErrInvalid)
}
