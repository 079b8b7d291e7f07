package faults_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/hashicorp/go-multierror"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/faults"
)

func TestList(t *testing.T) {
	t.Parallel()
	l := faults.List{Of: "option "}
	require.NoError(t, l.Err())
	n, m := 0, 9
	faults.Within(&l, "N", &n, 3, 1, 5)
	require.Equal(t, 3, n)
	require.NoError(t, l.Err())
	faults.Within(&l, "M", &m, 3, 1, 5)
	l.Add(false, "no fault")
	require.EqualError(t, l.Err(), "option M: 9 is outside 1 to 5")
	l.Add(true, "K: %w", io.EOF)
	require.EqualError(t, l.Err(), "option M: 9 is outside 1 to 5; option K: EOF")
	require.ErrorIs(t, l.Err(), io.EOF)
}

func TestNilPlugins(t *testing.T) {
	t.Parallel()
	var none *bytes.Buffer
	var l faults.List
	options := struct {
		Reader, Absent io.Reader
		Writer         io.Writer
		own            io.Reader
		Number         int
	}{Reader: none, Writer: new(bytes.Buffer), own: none}
	l.NilPlugins(&options)
	require.Nil(t, options.Reader)
	require.NotNil(t, options.Writer)
	require.EqualError(t, l.Err(), "Reader: holds a nil *bytes.Buffer")
}

func TestJoined(t *testing.T) {
	t.Parallel()
	require.NoError(t, faults.Joined(nil))
	require.NoError(t, faults.Joined(&multierror.Error{}))
	require.EqualError(t, faults.Joined(multierror.Append(nil, errors.New("a"))), "a")
}
