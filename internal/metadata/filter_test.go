package metadata

import (
	"testing"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFilterValues checks which values a filter takes, and what is said of those that the type of their field excludes.
func TestFilterValues(t *testing.T) {
	t.Parallel()
	schema := []content.Field{{Name: "team", Type: content.Varchar, MaxLength: 8, Match: true}, {Name: "year", Type: content.Int32, Match: true}, {Name: "open", Type: content.Bool, Match: true}}
	ask := func(field string, v any, strict bool) (int, []fault.Warning, error) {
		f, warnings, err := Filter("recall", schema, content.Filters{Metadata: map[string]any{field: v}, Strict: strict}, true)
		if len(f.All) == 0 {
			return 0, warnings, err
		}
		return len(f.All[0]), warnings, err
	}
	for name, c := range map[string]struct {
		field string
		value any
		tags  int
		why   string
	}{
		"a text":                 {"team", "blue", 1, ""},
		"a number":               {"year", 2024, 1, ""},
		"a whole float":          {"year", 2024.0, 1, ""},
		"a list of any":          {"team", []any{"blue", "red"}, 2, ""},
		"a list of strings":      {"team", []string{"blue", "red"}, 2, ""},
		"one value that fits":    {"team", []any{"blue", 5}, 2, ""},
		"text for a number":      {"year", "2024", 1, `filter "year" matches nothing: want INT32, got string`},
		"a fraction":             {"year", 20.5, 1, `filter "year" matches nothing: want INT32, got number`},
		"too large a number":     {"year", 1 << 40, 1, `filter "year" matches nothing: value is out of range for INT32`},
		"a number for text":      {"team", 5, 1, `filter "team" matches nothing: want VARCHAR, got number`},
		"text for a boolean":     {"open", "true", 1, `filter "open" matches nothing: want BOOL, got string`},
		"longer than any value":  {"team", "turquoise", 1, `filter "team" matches nothing: 9 characters are over max_length 8`},
		"a list that fits never": {"team", []int{1, 2}, 2, `filter "team" matches nothing: want VARCHAR, got number`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tags, warnings, err := ask(c.field, c.value, false)
			require.NoError(t, err)
			assert.Equal(t, c.tags, tags)
			_, _, strict := ask(c.field, c.value, true)
			if c.why == "" {
				assert.Empty(t, warnings)
				assert.NoError(t, strict)
				return
			}
			assert.Equal(t, []fault.Warning{{Code: "unmatched_filter", Field: "Filters.Metadata." + c.field, Message: c.why}}, warnings)
			assert.ErrorIs(t, strict, fault.ErrInvalid)
		})
	}
	_, _, err := ask("team", []byte("blue"), false)
	require.ErrorIs(t, err, fault.ErrInvalid)
	_, _, err = ask("team", nil, false)
	require.ErrorIs(t, err, fault.ErrInvalid)
}
