package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// maxSuggested is the maximal number of flags that an error names in place of an unknown one.
const maxSuggested = 3

// restNames holds the flags for what has other names over REST and in other programs.
var restNames = map[string]string{"collection": "sub", "database": "tenant", "server": "url", "api-key": "key", "limit": "max", "max-results": "max"}

// flagError returns the error of a command line whose flags could not be read. Where a flag is unknown, it names the flags of the command
// that may have been meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return usageError{err}
	}
	meant := flagsLike(cmd.Flags(), unknown.GetSpecifiedName())
	if len(meant) == 0 {
		return usageError{fmt.Errorf("%w: see contextmem help flags", err)}
	}
	return usageError{fmt.Errorf("%w: is %s meant?", err, strings.Join(meant, " or "))}
}

// flagsLike returns the flags whose names are nearly the given one, or else those whose explanation begins with it, as "dir" begins the
// directory of the data.
func flagsLike(flags *pflag.FlagSet, name string) []string {
	if f := flags.Lookup(restNames[name]); f != nil {
		return []string{"--" + f.Name}
	}
	var near, said []string
	flags.VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Hidden:
		case strings.HasPrefix(f.Name, name), distance(f.Name, name) <= min(2, len(name)/3):
			near = append(near, "--"+f.Name)
		case len(name) >= 3 && strings.HasPrefix(f.Usage, name):
			said = append(said, "--"+f.Name)
		}
	})
	if len(near) == 0 {
		near = said
	}
	return near[:min(len(near), maxSuggested)]
}

// distance counts the letters to insert, remove or replace that make a text another one.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
