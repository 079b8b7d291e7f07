package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHelp checks that -h explains every variable that the program reads, and that other arguments are refused.
func TestHelp(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.ErrorIs(t, arguments([]string{"-h"}, &out), flag.ErrHelp)
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	read := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`env\("(RECEIVER_\w+)"\)`).FindAllStringSubmatch(string(b), -1) {
			require.Regexp(t, `(?m)^  `+m[1]+`(=\w+)?  `, out.String())
			read++
		}
	}
	require.NotZero(t, read)
	require.NoError(t, arguments(nil, &out))
	for _, args := range [][]string{{"-port", "80"}, {"serve"}} {
		out.Reset()
		require.Error(t, arguments(args, &out))
		require.Contains(t, out.String(), "RECEIVER_")
	}
}
