package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/contextmem/contextmem/internal/transformer"
)

// A file of the cache: magic, CRC-32C of everything after the head, zeros up to headBytes, then the file of transformer.Panels.
const (
	magic     = "CMPANEL2"
	headBytes = 64
	suffix    = ".panels"

	// checkedSuffix ends the name of the file that holds the identity which a file of panels had when its checksum was found right.
	checkedSuffix = ".checked"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// cacheDir is the folder set by CacheIn; nil when there is none.
var cacheDir atomic.Pointer[string]

// CacheIn makes models from memory that are loaded from now on store their packed matrices in files of dir, and maps these files. So
// the matrices are packed once instead of by each process, and the processes share their pages. CacheIn creates dir if it is missing.
// "" means that matrices are packed in memory. A file is named after the weights that it was made from. Files are never deleted.
func CacheIn(dir string) error {
	if dir == "" {
		cacheDir.Store(nil)
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return bare(err)
	}
	cacheDir.Store(&dir)
	return nil
}

// panels returns the cached panels that replace tensors of the weights; nil if there is no cache or it cannot be used.
func (c *Checkpoint) panels() (over [][]byte) {
	dir := cacheDir.Load()
	if dir == nil || !c.cached {
		return nil
	}
	for i, file := range [][]byte{c.weights, c.over} {
		if i > 0 {
			over = append(over, file)
		}
		if file == nil {
			continue
		}
		panels, err := panelsIn(*dir, file)
		if err != nil {
			return nil
		}
		over = append(over, panels)
	}
	return over
}

// panelsIn maps the panels of weights. It creates their file if it is missing or damaged.
func panelsIn(dir string, weights []byte) ([]byte, error) {
	path := filepath.Join(dir, nameOf(weights)+suffix)
	if data, err := mapPanels(path); err == nil {
		return data, nil
	}
	panels, err := transformer.Panels(weights)
	if err != nil || panels == nil {
		return nil, err
	}
	if err := writePanels(path, panels); err != nil {
		return nil, err
	}
	return mapPanels(path)
}

var errDamaged = errors.New("not a file of panels, or damaged")

// mapPanels maps a file for the rest of the process's life, as long as the model may live. It reads the whole file to compare the
// checksum, unless this was done since the file was written. That takes a sixth of the time to the first answer of a process.
func mapPanels(path string) ([]byte, error) {
	id := identity(path) // before the file is read: a later change makes another
	data, unmap, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) < headBytes || string(data[:len(magic)]) != magic {
		return nil, errors.Join(errDamaged, unmap())
	}
	checked := path + checkedSuffix
	if last, err := os.ReadFile(checked); err == nil && id != "" && string(last) == id {
		return data[headBytes:], nil
	}
	if binary.LittleEndian.Uint32(data[len(magic):]) != crc32.Checksum(data[headBytes:], castagnoli) {
		return nil, errors.Join(errDamaged, unmap())
	}
	release(data) // a model whose layers are overridden never reads these pages
	if id != "" {
		_ = os.WriteFile(checked, []byte(id), 0o600) // without it the next process compares the checksum again
	}
	return data[headBytes:], nil
}

// writePanels creates a file atomically, so that no other process sees a part of it.
func writePanels(path string, panels []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	head := make([]byte, headBytes)
	copy(head, magic)
	binary.LittleEndian.PutUint32(head[len(magic):], crc32.Checksum(panels, castagnoli))
	_, err = f.Write(head)
	if err == nil {
		_, err = f.Write(panels)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// nameOf returns a name that identifies weights without reading all of them. It hashes their length, the first block, which contains
// the table of tensors, and blocks spread over the file.
func nameOf(weights []byte) string {
	const block, blocks = 4096, 16
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(weights))))
	for i := range blocks {
		at := len(weights) / blocks * i
		h.Write(weights[at:min(at+block, len(weights))])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
