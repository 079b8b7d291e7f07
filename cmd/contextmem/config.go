package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// envName returns the environment variable that sets a flag.
func envName(flag string) string {
	return "CONTEXTMEM_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// configure sets the flags missing on the command line from the environment or from the configuration file.
func (a *app) configure(cmd *cobra.Command) error {
	if f := cmd.Flags().Lookup("config"); f != nil && !f.Changed {
		a.config = a.env(envName("config"))
	}
	file, err := readConfig(a.config, cmd.Root())
	if err != nil {
		return err
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if err != nil || f.Changed || f.Name == "config" || f.Name == "help" || f.Name == "version" {
			return
		}
		v, from := a.env(envName(f.Name)), envName(f.Name)
		if v == "" {
			v, from = file[f.Name], "the configuration: "+f.Name
		}
		if v != "" && f.Value.Set(v) != nil { // the error is dropped since its text could contain a key
			err = usage("%s: is not a value of the kind %s", from, f.Value.Type())
		}
	})
	return err
}

// readConfig reads a file that maps flag names of any command to values. Lists are joined by commas.
func readConfig(name string, root *cobra.Command) (map[string]string, error) {
	if name == "" {
		return nil, nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, usage("--config: the file can't be read")
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	var values map[string]yaml.Node
	if err := d.Decode(&values); err != nil && !errors.Is(err, io.EOF) {
		return nil, usage("--config: the file is no YAML object of names and values")
	}
	known := map[string]bool{}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		for _, s := range c.Commands() {
			visit(s)
		}
	}
	visit(root)
	out := map[string]string{}
	for k, n := range values {
		if !known[k] {
			return nil, usage("--config: %q is the name of no flag", k)
		}
		switch n.Kind {
		case yaml.ScalarNode:
			if n.Tag != "!!null" {
				out[k] = n.Value
			}
		case yaml.SequenceNode:
			var list []string
			for _, e := range n.Content {
				if e.Kind != yaml.ScalarNode {
					return nil, usage("--config: %s: wants plain values", k)
				}
				list = append(list, e.Value)
			}
			out[k] = strings.Join(list, ",")
		default:
			return nil, usage("--config: %s: wants a value or a list of values", k)
		}
	}
	return out, nil
}

// anyNumber is the limit of a command that takes any number of arguments.
const anyNumber = 1 << 30

// takes returns the check of a command that takes between least and most arguments. Its error shows how the command is used.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least {
			return usage("something is missing, usage: %s", cmd.UseLine())
		}
		if len(args) == 1 && most == 0 {
			return usage("there is no argument %q, usage: %s", args[0], cmd.UseLine())
		}
		if len(args) > most {
			return usage("%d arguments are too many, usage: %s", len(args), cmd.UseLine())
		}
		return nil
	}
}

// pairs parses texts of the form key=value.
func pairs(flag string, list []string) (map[string]any, error) {
	if len(list) == 0 {
		return nil, nil
	}
	m := map[string]any{}
	for _, s := range list {
		k, v, ok := strings.Cut(s, "=")
		if !ok || k == "" {
			return nil, usage("--%s: wants name=value", flag)
		}
		m[k] = v
	}
	return m, nil
}

// check returns an error for a value that is not in a list.
func check(flag, value string, of ...string) error {
	for _, s := range of {
		if s == value {
			return nil
		}
	}
	return usageError{fmt.Errorf("--%s: must be one of %s", flag, strings.Join(of, ", "))}
}
