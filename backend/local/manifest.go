package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/contextmem/contextmem/internal/atrest"
)

// The manifest lists the current index files, oldest first, and the last change that they
// cover. Its format, little-endian, with sizes in bytes: magic (8), version (4), number of
// files (4), sequence number of the change (8), next file id (8), epoch of the change (8,
// not in version 1); for each file its id (8), size (8) and header checksum (4); CRC-32C of
// everything before (4).
const (
	manifestName    = "MANIFEST"
	manifestMagic   = "cmlocman"
	manifestVersion = 2
	manifestHead    = 40
	manifestHead1   = 32 // of version 1
	manifestEntry   = 20
)

type manifest struct {
	applied uint64
	epoch   uint64
	nextID  uint64
	files   []manifestFile
}

type manifestFile struct {
	id   uint64
	size int64
	sum  uint32
}

func (m *manifest) encode() []byte {
	le := binary.LittleEndian
	b := append(make([]byte, 0, manifestHead+manifestEntry*len(m.files)+4), manifestMagic...)
	b = le.AppendUint32(b, manifestVersion)
	b = le.AppendUint32(b, uint32(len(m.files)))
	b = le.AppendUint64(b, m.applied)
	b = le.AppendUint64(b, m.nextID)
	b = le.AppendUint64(b, m.epoch)
	for _, f := range m.files {
		b = le.AppendUint64(b, f.id)
		b = le.AppendUint64(b, uint64(f.size))
		b = le.AppendUint32(b, f.sum)
	}
	return le.AppendUint32(b, checksum(b))
}

func decodeManifest(b []byte) (*manifest, error) {
	le := binary.LittleEndian
	if len(b) < manifestHead1+4 || string(b[:8]) != manifestMagic {
		return nil, fmt.Errorf("%w: not a manifest", errFormat)
	}
	head := manifestHead
	switch v := le.Uint32(b[8:]); v {
	case 1:
		head = manifestHead1
	case manifestVersion:
	default:
		return nil, fmt.Errorf("%w: manifest version %d, want up to %d", errFormat, v, manifestVersion)
	}
	body := b[:len(b)-4]
	n := le.Uint32(b[12:])
	if checksum(body) != le.Uint32(b[len(body):]) || uint64(len(body)) != uint64(head)+manifestEntry*uint64(n) {
		return nil, fmt.Errorf("%w: manifest checksum", errFormat)
	}
	m := &manifest{applied: le.Uint64(b[16:]), nextID: le.Uint64(b[24:])}
	if head == manifestHead {
		m.epoch = le.Uint64(b[32:])
	}
	for at := head; at < len(body); at += manifestEntry {
		f := manifestFile{le.Uint64(b[at:]), int64(le.Uint64(b[at+8:])), le.Uint32(b[at+16:])}
		if f.id >= m.nextID {
			return nil, fmt.Errorf("%w: file id %d", errFormat, f.id)
		}
		m.files = append(m.files, f)
	}
	return m, nil
}

// readManifest returns the manifest of a folder, or nil when it has none.
func readManifest(dir string) (*manifest, error) {
	b, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decodeManifest(b)
}

// syncFrom is the total size of a workspace's index files, in bytes, from which they are
// synced, so that they survive a crash of the machine and not only of the process. Smaller
// ones are rebuilt faster than a disk confirms four writes. A file that a crash has torn is
// found before use, because the checksums of files of this size are always compared first.
const syncFrom = 1 << 20

// durable reports whether the files of m are synced to survive a crash of the machine.
func (m *manifest) durable() bool {
	size := int64(0)
	for _, f := range m.files {
		size += f.size
	}
	return size >= syncFrom
}

// publish replaces the manifest of a folder by m. It syncs the folder before and after if
// m is durable; the files that m names are then already synced.
func (m *manifest) publish(dir string) error {
	sync, syncDir := (*os.File).Sync, syncDir
	if !m.durable() {
		sync, syncDir = func(*os.File) error { return nil }, func(string) error { return nil }
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	name := filepath.Join(dir, manifestName)
	f, err := os.OpenFile(name+tempSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(m.encode())
	err = errors.Join(err, sync(f), f.Close())
	if err == nil {
		err = os.Rename(name+tempSuffix, name)
	}
	if err != nil {
		return err
	}
	return syncDir(dir)
}

// open opens the files of the manifest.
func (m *manifest) open(dir string, l limits) ([]*file, error) {
	return m.each(func(id uint64) (*file, error) { return openFile(dir, id, l) })
}

// check reads the directories of the manifest's files and closes the files again.
func (m *manifest) check(dir string, c *atrest.Cipher) ([]*file, error) {
	return m.each(func(id uint64) (*file, error) {
		f, osf, err := checkFile(dir, id, c)
		if err == nil {
			err = osf.Close()
		}
		return f, err
	})
}

func (m *manifest) each(open func(id uint64) (*file, error)) (files []*file, err error) {
	defer func() {
		if err != nil {
			for _, f := range files {
				f.release()
			}
			files = nil
		}
	}()
	for _, want := range m.files {
		f, err := open(want.id)
		if err != nil {
			return files, err
		}
		f.synced = m.durable()
		files = append(files, f)
		if f.size != want.size || f.sum != want.sum {
			return files, fmt.Errorf("%w: file %d is not the one that was published", errFormat, want.id)
		}
	}
	return files, nil
}

// sweep removes the index files in dir that are not in keep. A crash can leave such files behind.
func sweep(dir string, keep []*file) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	counts := make(map[string]bool, len(keep))
	for _, f := range keep {
		counts[filepath.Base(f.path)] = true
	}
	var errs []error
	for _, e := range entries {
		name := e.Name()
		if ours := strings.HasSuffix(name, ".idx") || strings.HasSuffix(name, tempSuffix); ours && !counts[name] {
			if err := os.Remove(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) { // a cancelled merge may have removed its file meanwhile
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// removeAll removes the manifest and then all index files.
func removeAll(dir string) error {
	err := os.Remove(filepath.Join(dir, manifestName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return sweep(dir, nil)
}
