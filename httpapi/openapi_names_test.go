package httpapi

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOpenAPIRequiresNoNameThatHasAnother checks that a document does not require a name in whose place the route takes another one.
func TestOpenAPIRequiresNoNameThatHasAnother(t *testing.T) {
	t.Parallel()
	// The public contract requires id there, and knows no other name.
	public := []string{"/context/inspect"}
	type schema struct {
		Description string            `json:"description"`
		Required    []string          `json:"required"`
		Properties  map[string]schema `json:"properties"`
	}
	type operation struct {
		Parameters []struct {
			Name     string `json:"name"`
			Required bool   `json:"required"`
			Schema   schema `json:"schema"`
		} `json:"parameters"`
		Body struct {
			Content map[string]struct {
				Schema schema `json:"schema"`
			} `json:"content"`
		} `json:"requestBody"`
	}
	b, err := os.ReadFile("openapi/v2.json")
	require.NoError(t, err)
	var d struct {
		Paths map[string]map[string]operation `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(b, &d))
	seen := 0
	check := func(path, description string, required []string) {
		rest, ok := strings.CutPrefix(description, "Another name of ")
		if !ok || slices.Contains(public, path) {
			return
		}
		seen++
		assert.NotContains(t, required, strings.TrimSuffix(rest, "."), path)
	}
	for path, ops := range d.Paths {
		for _, op := range ops {
			var required []string
			for _, p := range op.Parameters {
				if p.Required {
					required = append(required, p.Name)
				}
			}
			for _, p := range op.Parameters {
				check(path, p.Schema.Description, required)
			}
			for _, c := range op.Body.Content {
				for _, p := range c.Schema.Properties {
					check(path, p.Description, c.Schema.Required)
				}
			}
		}
	}
	require.Greater(t, seen, 10)
}
