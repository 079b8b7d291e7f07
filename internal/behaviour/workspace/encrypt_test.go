package workspace_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
)

// filesContainingAny returns the number of files below a directory, and those that contain one of the words in any
// case.
func filesContainingAny(t *testing.T, dir string, words ...string) (files int, with []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		data = bytes.ToLower(data)
		for _, w := range words {
			if bytes.Contains(data, []byte(w)) {
				with = append(with, filepath.Base(path)+": "+w)
			}
		}
		return err
	}))
	return files, with
}

// TestEncryptionAtRest checks that no file contains stored content in plain text: while the deployment is open, after a
// crash, when it is closed, and in a backup. All content must be readable with the key.
func TestEncryptionAtRest(t *testing.T) {
	t.Parallel()
	words := []string{"xylophone", "quartzite", "zanzibar", "vibraphon", "kilimanjaro", "ocelot", "wolpertinger", "acme-corp", "marzipan", "axolotl"}
	fill := func(svc *contextmem.Service) {
		_, err := svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme-corp"})
		require.NoError(t, err)
		require.NoError(t, svc.Tenant("acme-corp").WaitReady(t.Context()))
		sub := svc.Tenant("acme-corp").Sub("wolpertinger")
		_, err = sub.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{
			{ID: "axolotl", Text: "Ines Kilimanjaro works at Quartzite Industries and plays the xylophone.", Title: "marzipan", Metadata: map[string]any{"place": "zanzibar"}}}})
		require.NoError(t, err)
		_, err = sub.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{
			{Name: "ocelot.txt", Data: []byte(strings.Repeat("The vibraphone stands in the hall. ", 4000))}}})
		require.NoError(t, err)
		require.NoError(t, svc.Drain(t.Context()))
	}
	// Without a key each of them is found in the files: the test looks at the right thing.
	plain := t.TempDir()
	svc, err := contextmem.Open(t.Context(), plain, nil)
	require.NoError(t, err)
	fill(svc)
	require.NoError(t, svc.Close())
	_, with := filesContainingAny(t, plain, words...)
	for _, w := range words {
		require.Contains(t, strings.Join(with, " "), w)
	}

	dir := filepath.Join(t.TempDir(), "sealed")
	key := bytes.Repeat([]byte{1}, 32)
	open := func(dir string, key []byte) (*contextmem.Service, error) {
		return contextmem.Open(context.Background(), dir, &contextmem.Options{EncryptionKey: key})
	}
	svc, err = open(dir, key)
	require.NoError(t, err)
	fill(svc)
	files, with := filesContainingAny(t, dir, words...)
	require.Greater(t, files, 4)
	require.Empty(t, with, "open")
	_, err = os.Stat(filepath.Join(dir, "secret.key"))
	require.ErrorIs(t, err, fs.ErrNotExist, "the registry is encrypted")
	crashed := filepath.Join(t.TempDir(), "crashed")
	require.NoError(t, os.CopyFS(crashed, os.DirFS(dir)))
	copied := filepath.Join(t.TempDir(), "backup")
	_, err = svc.Backup(t.Context(), copied)
	require.NoError(t, err)
	var exported bytes.Buffer
	require.NoError(t, svc.Tenant("acme-corp").Export(t.Context(), &exported))
	require.Contains(t, exported.String(), "xylophone", "an export is for other places")

	next := bytes.Repeat([]byte{2}, 32)
	require.ErrorIs(t, svc.RotateEncryptionKey(t.Context(), next[:5]), fault.ErrInvalid)
	require.NoError(t, svc.RotateEncryptionKey(t.Context(), next))
	require.NoError(t, svc.Close())
	for what, d := range map[string]string{"closed": dir, "backup": copied} {
		t.Run(what, func(t *testing.T) {
			files, with = filesContainingAny(t, d, words...)
			require.Greater(t, files, 3, what)
			require.Empty(t, with, what)
		})
	}

	for name, test := range map[string]struct {
		dir  string
		key  []byte
		says string
	}{
		"the key before":  {dir, key, "another key"},
		"no key":          {dir, nil, "no key is given"},
		"a plain one":     {plain, key, "is not encrypted"},
		"half a key":      {dir, key[:16], "16 bytes"},
		"another, backup": {crashed, next, "another key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(test.dir, test.key)
			require.Error(t, err, name)
			require.ErrorContains(t, err, test.says, name)
			var e *contextmem.Error
			require.ErrorAs(t, err, &e, name)
			require.Equal(t, fault.KindInvalid, e.Kind, name)
		})
	}
	restored := filepath.Join(t.TempDir(), "restored")
	require.NoError(t, contextmem.Restore(t.Context(), copied, restored))
	_, err = contextmem.New(t.Context(), nil, &contextmem.Options{EncryptionKey: key})
	require.ErrorContains(t, err, "EncryptionKey")

	for what, x := range map[string]struct {
		dir string
		key []byte
	}{"closed": {dir, next}, "crashed": {crashed, key}, "restored": {restored, key}} {
		t.Run(what, func(t *testing.T) {
			svc, err := open(x.dir, x.key)
			require.NoError(t, err, what)
			require.NoError(t, svc.Drain(t.Context()))
			res, err := svc.Tenant("acme-corp").Sub("wolpertinger").Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "who plays the xylophone?"})
			require.NoError(t, err, what)
			require.NotEmpty(t, res.Chunks, what)
			require.Equal(t, "axolotl", res.Chunks[0].SourceID, what)
			report, err := svc.Verify(t.Context())
			require.NoError(t, err, what)
			require.True(t, report.OK(), "%s: %+v", what, report)
			require.NoError(t, svc.Close())
		})
	}
	require.ErrorIs(t, func() error { _, err := open(dir, key); return err }(), backend.ErrKey)
}
