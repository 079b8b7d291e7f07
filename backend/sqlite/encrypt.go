package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/sqlite/internal/sealedvfs"
	"github.com/contextmem/contextmem/internal/atrest"
)

// encrypt registers the VFS of encrypted files if there is a key. It returns an error if the key does not fit the registry.
func (d *DB) encrypt(registry string) (err error) {
	if d.o.EncryptionKey != nil {
		if d.o.cipher, err = atrest.NewCipher(d.o.EncryptionKey, "sqlite"); err != nil {
			return err
		}
	}
	if err := d.fits(registry); err != nil || d.o.cipher == nil {
		return err
	}
	if current != builtin || builtin == nil {
		return errors.New("encrypted files need the SQLite that is built with cgo")
	}
	d.o.vfs, d.unmount, err = sealedvfs.Register(d.o.cipher)
	return err
}

// decrypt unregisters the VFS. No file may be open.
func (d *DB) decrypt() {
	if d.unmount != nil {
		d.unmount()
		d.unmount = nil
	}
}

// fits returns an error if a database is not encrypted with the key. It must run before SQLite opens the database, since SQLite would take its log for an
// empty one.
func (d *DB) fits(path string) error {
	state, err := sealedvfs.Look(path, d.o.cipher)
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	switch {
	case state == sealedvfs.Plain && d.o.cipher != nil:
		return fmt.Errorf("%s is not encrypted, and a key is given: %w", name, backend.ErrKey)
	case state == sealedvfs.Foreign && d.o.cipher != nil:
		return fmt.Errorf("%s was encrypted with another key, or its first page is damaged: %w", name, backend.ErrKey)
	case state == sealedvfs.Foreign:
		return fmt.Errorf("%s is no database, or it is encrypted and no key is given: %w", name, backend.ErrCorrupt)
	}
	return nil
}
