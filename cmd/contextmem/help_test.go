package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// TestHelp checks that the topic "flags" shows every flag of every command once, and that the help of a command shows its own
// flags and the most used ones, without those of models.
func TestHelp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	topic := inProcess(t, dir, "", "help", "flags")
	require.Zero(t, topic.code, topic.err)
	root := newRoot(&app{streams: streams{env: func(string) string { return "" }}})
	shows := func(text, flag string) int {
		return len(regexp.MustCompile(`(?m)^(  -\w, |      )--`+regexp.QuoteMeta(flag)+`\b[^-]`).FindAllString(text, -1))
	}
	n := 0
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		require.Equal(t, 1, shows(topic.out, f.Name), "--%s", f.Name)
		n++
	})
	require.Greater(t, n, len(frequent))

	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if words := strings.Fields(c.CommandPath())[1:]; len(words) > 0 && words[0] != "completion" && words[0] != "flags" {
			got := inProcess(t, dir, "", append([]string{"help"}, words...)...)
			require.Zero(t, got.code, "%v: %s", words, got.err)
			require.Contains(t, got.out, c.UseLine())
			require.Zero(t, shows(got.out, "embedder"), "%v", words)
			require.Equal(t, 1, shows(got.out, "tenant"), "%v", words)
			c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) { require.Equal(t, 1, shows(got.out, f.Name), "%v: --%s", words, f.Name) })
		}
		for _, s := range c.Commands() {
			visit(s)
		}
	}
	visit(root)
}

// TestHelpAboutNothing checks that help about a command that does not exist is wrong usage, also below a command that exists.
func TestHelpAboutNothing(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"help", "nonsense"}, {"help", "recall", "nonsense"}, {"help", "tenants", "nonsense"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			got := inProcess(t, t.TempDir(), "", args...)
			require.Equal(t, exitUsage, got.code)
			require.Empty(t, got.out)
			require.Contains(t, got.err, "nonsense")
		})
	}
	got := inProcess(t, t.TempDir(), "", "help")
	require.Zero(t, got.code, got.err)
	require.Contains(t, got.out, "Commands:")
}
