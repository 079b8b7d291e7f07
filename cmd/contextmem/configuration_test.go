package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// commands returns all runnable commands, by their words.
func commands(root *cobra.Command) map[string]*cobra.Command {
	out := map[string]*cobra.Command{}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Runnable() {
			out[strings.TrimPrefix(c.CommandPath(), root.Name()+" ")] = c
		}
		for _, s := range c.Commands() {
			visit(s)
		}
	}
	visit(root)
	return out
}

// threeValues returns different values of a flag's kind, as texts, none of which is the default.
func threeValues(t *testing.T, f *pflag.Flag) [3]string {
	t.Helper()
	switch f.Value.Type() {
	case "bool":
		return [3]string{"true", "true", "true"} // only that it is set can be seen
	case "int", "int64":
		return [3]string{"1001", "1002", "1003"}
	case "float64":
		return [3]string{"0.125", "0.25", "0.375"}
	case "duration":
		return [3]string{"11m0s", "12m0s", "13m0s"}
	case "stringSlice":
		return [3]string{"a,b", "c,d", "e"}
	case "string", "stringArray":
		return [3]string{"from the file", "from the environment", "from the line"}
	}
	t.Fatalf("--%s: a kind without values: %s", f.Name, f.Value.Type())
	return [3]string{}
}

// TestEveryFlagByFileEnvironmentAndLine checks that each flag of each command takes its value from the file, that the
// environment takes precedence over the file, and the command line over both.
func TestEveryFlagByFileEnvironmentAndLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seen := 0
	for words := range commands(newRoot(&app{streams: streams{env: func(string) string { return "" }}})) {
		find := func(a *app) *cobra.Command {
			c, _, err := newRoot(a).Find(strings.Fields(words))
			require.NoError(t, err)
			require.NoError(t, c.ParseFlags(nil)) // which adds the flags of all commands
			return c
		}
		var names []string
		find(&app{streams: streams{env: func(string) string { return "" }}}).Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "config" && f.Name != "help" && f.Name != "version" {
				names = append(names, f.Name)
			}
		})
		for _, name := range names {
			env := map[string]string{}
			a := &app{streams: streams{env: func(k string) string { return env[k] }}}
			shown := func(args ...string) string {
				c := find(a)
				require.NoError(t, c.ParseFlags(args))
				require.NoError(t, a.configure(c), "%s --%s", words, name)
				return c.Flags().Lookup(name).Value.String()
			}
			f := find(a).Flags().Lookup(name)
			values := threeValues(t, f)
			wants := [4]string{f.DefValue}
			for i, v := range values {
				fresh := find(a).Flags().Lookup(name)
				require.NoError(t, fresh.Value.Set(v))
				wants[i+1] = fresh.Value.String()
				require.NotEqual(t, f.DefValue, wants[i+1], "%s --%s", words, name)
			}
			var value any = values[0]
			if f.Value.Type() == "stringSlice" {
				value = strings.Split(values[0], ",")
			}
			b, err := yaml.Marshal(map[string]any{name: value})
			require.NoError(t, err)
			file := filepath.Join(dir, "config.yaml")
			require.NoError(t, os.WriteFile(file, b, 0o600))
			got := [4]string{shown()}
			env["CONTEXTMEM_CONFIG"] = file
			got[1] = shown()
			env[envName(name)] = values[1]
			got[2] = shown()
			got[3] = shown("--" + name + "=" + values[2])
			if f.Value.Type() == "stringArray" {
				got[0] = wants[0] // "[]" either way
			}
			require.Equal(t, wants, got, "%s --%s", words, name)
			if f.Value.Type() == "bool" { // one that the file sets can be taken back
				env[envName(name)] = "false"
				require.Equal(t, "false", shown(), "%s --%s", words, name)
			}
			seen++
		}
	}
	require.Greater(t, seen, 1000)
	t.Log(fmt.Sprint(seen, " flags of commands"))
}
