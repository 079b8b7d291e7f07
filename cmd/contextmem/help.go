package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the number of columns that descriptions of flags are wrapped to.
const helpWidth = 110

// frequent holds the names of the flags of every command that the help of each command shows. The topic "flags" shows the others.
var frequent = map[string]bool{"config": true, "data": true, "json": true, "key": true, "sub": true, "tenant": true, "timeout": true, "url": true, "help": true, "version": true}

// flagGroups groups the other flags of every command by the beginning of their names. The last group has the rest.
var flagGroups = []struct {
	title    string
	prefixes []string
}{
	{"Models", []string{"embedder", "fast-embedder", "previous-embedders", "reranker", "judge", "extractor", "summarizer", "transcriber", "model-cache"}},
	{"Documents", []string{"chunk-", "ocr", "parse-timeout", "pdftotext"}},
	{"Connectors and webhooks", []string{"allow-local", "connector", "github-url", "notion-url", "slack-url", "webhook-"}},
	{"Storage, limits and the rest", []string{""}},
}

// flagsTopic is the help topic that lists the flags of every command.
func flagsTopic() *cobra.Command {
	c := &cobra.Command{Use: "flags", Short: "The flags of models, documents, connectors, storage and limits, which every command has"}
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { printFlagGroups(c.OutOrStdout(), c.Root().PersistentFlags()) })
	return c
}

// helpCmd is the command that prints the help of the command, or the topic, that its arguments name.
func helpCmd() *cobra.Command {
	return &cobra.Command{Use: "help [COMMAND]", Short: "Help about any command",
		PersistentPreRun: func(*cobra.Command, []string) {}, // help needs no configuration
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
			if about, rest, err := c.Root().Find(args); err == nil && len(rest) == 0 {
				for _, s := range about.Commands() {
					if s.IsAvailableCommand() && strings.HasPrefix(s.Name(), begun) {
						names = append(names, s.Name()+"\t"+s.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usage("there is no command or topic %q: see contextmem help", strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		}}
}

// printFlagGroups prints the flags of every command by group, each in the first group whose prefix it has.
func printFlagGroups(w io.Writer, all *pflag.FlagSet) {
	fmt.Fprint(w, "Flags of every command\n\n")
	printFlags(w, "The most used", all, func(f *pflag.Flag) bool { return frequent[f.Name] })
	printed := map[string]bool{}
	for _, g := range flagGroups {
		printFlags(w, g.title, all, func(f *pflag.Flag) bool {
			if frequent[f.Name] || printed[f.Name] {
				return false
			}
			for _, p := range g.prefixes {
				if strings.HasPrefix(f.Name, p) {
					printed[f.Name] = true
					return true
				}
			}
			return false
		})
	}
	fmt.Fprint(w, "A command that works through a server (--url) uses the server's own models and limits.\n")
}

// printFlags prints the flags that keep selects under a title. It prints nothing if there are none.
func printFlags(w io.Writer, title string, all *pflag.FlagSet, keep func(*pflag.Flag) bool) {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && keep(f) {
			some.AddFlag(f)
		}
	})
	if some.HasAvailableFlags() {
		fmt.Fprintf(w, "%s:\n%s\n", title, some.FlagUsagesWrapped(helpWidth))
	}
}

// printUsage prints how a command is used: its own flags, and of those of every command the most used ones.
func printUsage(c *cobra.Command) error {
	w := c.OutOrStderr()
	fmt.Fprint(w, "Usage:\n")
	if c.Runnable() {
		fmt.Fprintf(w, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s COMMAND\n", c.CommandPath())
	}
	fmt.Fprintln(w)
	if len(c.Aliases) > 0 {
		fmt.Fprintf(w, "Aliases:\n  %s\n\n", c.NameAndAliases())
	}
	if c.HasExample() {
		fmt.Fprintf(w, "Examples:\n%s\n\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprint(w, "Commands:\n")
		for _, s := range c.Commands() {
			if s.IsAvailableCommand() || s.Name() == "help" {
				fmt.Fprintf(w, "  %-*s %s\n", s.NamePadding(), s.Name(), s.Short)
			}
		}
		fmt.Fprintln(w)
	}
	everywhere := c.Root().PersistentFlags()
	printFlags(w, "Flags", c.LocalFlags(), func(f *pflag.Flag) bool { return everywhere.Lookup(f.Name) == nil })
	printFlags(w, "Flags of every command", everywhere, func(f *pflag.Flag) bool { return frequent[f.Name] })
	fmt.Fprint(w, "More flags, for models, documents, connectors, storage and limits: contextmem help flags\n")
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "More about a command: %s COMMAND --help\n", c.CommandPath())
	}
	return nil
}
