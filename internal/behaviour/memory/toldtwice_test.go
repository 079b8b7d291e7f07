package memory_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestEqualStatementsAreOneFact stores a statement and two months later another. The two are one fact of two memories
// only if they state the same.
func TestEqualStatementsAreOneFact(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	svc, err := contextmem.New(ctx, inmem.New(), nil)
	require.NoError(t, err)
	defer svc.Close()
	_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "t"})
	require.NoError(t, err)
	for name, x := range map[string]struct {
		first, second, predicate string
		same                     bool
	}{
		"home":             {"I live in Oslo.", "My home is in Oslo now.", "lives_in", true},
		"based":            {"I live in Oslo.", "I'm based in Oslo.", "lives_in", true},
		"employer":         {"I work at Acme.", "My employer is Acme.", "works_at", true},
		"both ways":        {"My wife is Clara.", "I'm married to Clara.", "married_to", true},
		"allergy":          {"I'm allergic to peanuts.", "I have a peanut allergy.", "allergic_to", true},
		"diet":             {"I'm vegetarian.", "I'm a vegetarian.", "diet", true},
		"taste":            {"I hate olives.", "I can't stand olives.", "dislikes", true},
		"language":         {"I speak French.", "I'm fluent in French.", "speaks", true},
		"role":             {"I'm a nurse.", "I work as a nurse.", "has_role", true},
		"belongings":       {"I own a Skoda.", "I have a Skoda.", "owns", true},
		"children":         {"I have two kids.", "We have two children.", "has", true},
		"wish":             {"I want to learn Italian.", "I'd like to learn Italian.", "wants", true},
		"age":              {"I'm 34.", "I'm 34 years old.", "age", true},
		"narrower":         {"I like tea.", "I like green tea.", "likes", false},
		"denied":           {"I speak French.", "I don't speak French.", "not_speaks", false},
		"wanted":           {"I want a dog.", "I have a dog.", "has", false},
		"past":             {"I play tennis.", "I played tennis.", "plays", false},
		"somebody else":    {"I live in Oslo.", "My brother lives in Oslo.", "lives_in", false},
		"two occasions":    {"I bought a car in March.", "I bought a car in June.", "bought", false},
		"told again late":  {"I went to Rome.", "I went to Rome again.", "went_to", false},
		"works, not lives": {"I work in Oslo.", "I live in Oslo.", "lives_in", false},
		"moved and back":   {"I live in Oslo.", "I moved to Lisbon.", "lives_in", false},
	} {
		t.Run(name, func(t *testing.T) {
			sub := svc.Tenant("t").Sub(name)
			_, err := sub.Remember(ctx, contextmem.Memory{ID: "a", Text: x.first, UserName: "Anna", Infer: true, Time: servicetest.OnDay("2024-01-01")},
				contextmem.Memory{ID: "b", Text: x.second, UserName: "Anna", Infer: true, Time: servicetest.OnDay("2024-03-01")})
			require.NoError(t, err)
			page, err := sub.Facts(ctx, facts.Request{Subject: "Anna"})
			require.NoError(t, err)
			of := func(f facts.Fact) bool { return f.Predicate == x.predicate }
			i := slices.IndexFunc(page.Facts, of)
			require.GreaterOrEqual(t, i, 0, "%+v", page.Facts)
			f := page.Facts[i]
			if !x.same {
				for _, f := range page.Facts {
					assert.Empty(t, f.Also, f.Predicate)
				}
				return
			}
			require.Len(t, f.Also, 1)
			assert.ElementsMatch(t, []string{"a", "b"}, []string{f.SourceID, f.Also[0].SourceID})
			assert.NotEmpty(t, f.Also[0].Evidence)
			assert.NotEmpty(t, f.Also[0].ID)
			assert.ElementsMatch(t, []time.Time{servicetest.OnDay("2024-01-01"), servicetest.OnDay("2024-03-01")}, []time.Time{f.Learnt, f.Also[0].Learnt})
			assert.False(t, slices.ContainsFunc(page.Facts[i+1:], of), "one fact, not two")
			p, err := sub.Profile(ctx, facts.ProfileRequest{Subject: "Anna"})
			require.NoError(t, err)
			n := 0
			for _, s := range p.Slots {
				for _, f := range s.Facts {
					if f.Slot == page.Facts[i].Slot && len(f.Also) > 0 {
						n++
					}
				}
			}
			if x.predicate != "lives_in" && x.predicate != "age" && name != "diet" && name != "employer" { // of what has one value, a profile reads the last telling; a profile joins within a slot
				assert.GreaterOrEqual(t, n, 1, "%+v", p)
			}
			history, err := sub.Facts(ctx, facts.Request{Subject: "Anna", History: true})
			require.NoError(t, err)
			for _, f := range history.Facts {
				assert.Empty(t, f.Also, "history has each telling")
			}
		})
	}
}

// TestStatementBeforeAMoveIsNotRepeated states a home twice with another one in between. The first statement is no
// evidence for the last.
func TestStatementBeforeAMoveIsNotRepeated(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	svc, err := contextmem.New(ctx, inmem.New(), nil)
	require.NoError(t, err)
	defer svc.Close()
	_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "t"})
	require.NoError(t, err)
	sub := svc.Tenant("t").Sub("")
	for i, text := range []string{"I live in Oslo.", "I live in Lisbon.", "I live in Oslo.", "My home is in Oslo."} {
		_, err := sub.Remember(ctx, contextmem.Memory{ID: string(rune('a' + i)), Text: text, UserName: "Anna", Infer: true, Time: servicetest.OnDay("2024-01-01").AddDate(0, i, 0)})
		require.NoError(t, err)
	}
	page, err := sub.Facts(ctx, facts.Request{Subject: "Anna", Slot: "home"})
	require.NoError(t, err)
	require.Len(t, page.Facts, 1)
	assert.Equal(t, "d", page.Facts[0].SourceID)
	require.Len(t, page.Facts[0].Also, 1)
	assert.Equal(t, "c", page.Facts[0].Also[0].SourceID)
}

// TestDietHasOneValue states a diet in the words that people have for it, and another one afterwards.
func TestDietHasOneValue(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	svc, err := contextmem.New(ctx, inmem.New(), nil)
	require.NoError(t, err)
	defer svc.Close()
	_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "t"})
	require.NoError(t, err)
	for i, first := range []string{"I'm vegetarian.", "I am a vegetarian.", "I'm vegetarian now."} {
		for j, second := range []string{"I've gone vegan.", "I'm a vegan now.", "I'm vegan."} {
			sub := svc.Tenant("t").Sub(string(rune('a'+i)) + string(rune('a'+j)))
			_, err := sub.Remember(ctx, contextmem.Memory{ID: "a", Text: first, UserName: "Anna", Infer: true, Time: servicetest.OnDay("2024-01-01")},
				contextmem.Memory{ID: "b", Text: second, UserName: "Anna", Infer: true, Time: servicetest.OnDay("2024-03-01")})
			require.NoError(t, err)
			page, err := sub.Facts(ctx, facts.Request{Subject: "Anna", Slot: "diet"})
			require.NoError(t, err)
			require.Len(t, page.Facts, 1, "%s %s: %+v", first, second, page.Facts)
			assert.Equal(t, "vegan", page.Facts[0].Object)
		}
	}
}
