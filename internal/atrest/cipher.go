// Package atrest encrypts files on disk. It has a cipher for blocks of files, and an envelope that holds the key of a
// directory.
//
// The cipher is XAES-256-GCM (C2SP): AES-256-GCM under a key derived from the first half of a 192-bit nonce. Random nonces of
// that size do not repeat in practice. Blocks with the same first half share one derived key.
package atrest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
)

const (
	// KeyBytes is the size of a key.
	KeyBytes = 32
	// Overhead is the number of bytes that sealing adds to a block.
	Overhead = nonceBytes + tagBytes

	nonceBytes = 24
	halfNonce  = nonceBytes / 2
	tagBytes   = 16
)

var (
	// ErrSealed is returned for bytes that were sealed under another key or for another place, or that are damaged.
	ErrSealed = errors.New("encrypted with another key, or damaged")
	// ErrSize is returned for a key of the wrong length.
	ErrSize = errors.New("the key has another length")
)

// Limits: blocks sealed under one nonce half, and nonce halves cached for opening.
const (
	maxBlocks = 1 << 32
	maxHalves = 1024
)

// Cipher seals and opens blocks. It is safe for concurrent use.
type Cipher struct {
	block cipher.Block
	k1    [aes.BlockSize]byte

	mu     sync.Mutex
	half   [halfNonce]byte
	aead   cipher.AEAD // cipher derived from half
	blocks uint64      // number of blocks sealed with aead

	opening sync.RWMutex
	halves  map[[halfNonce]byte]cipher.AEAD
}

// NewCipher returns a cipher for one purpose, named by label, with a key derived from key. key must have KeyBytes bytes.
func NewCipher(key []byte, label string) (*Cipher, error) {
	if len(key) != KeyBytes {
		return nil, fmt.Errorf("%w: %d bytes, want %d", ErrSize, len(key), KeyBytes)
	}
	sub, err := hkdf.Key(sha256.New, key, nil, "contextmem "+label, KeyBytes)
	if err != nil {
		return nil, err
	}
	return newXAES(sub)
}

// newXAES returns the plain C2SP cipher, without deriving a key for a purpose.
func newXAES(key []byte) (*Cipher, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	c := &Cipher{block: block, halves: make(map[[halfNonce]byte]cipher.AEAD)}
	block.Encrypt(c.k1[:], c.k1[:])
	msb := byte(0)
	for i := len(c.k1) - 1; i >= 0; i-- {
		c.k1[i], msb = c.k1[i]<<1|msb, c.k1[i]>>7
	}
	c.k1[len(c.k1)-1] ^= msb * 0x87
	return c, nil
}

// derive returns the AES-GCM cipher for a nonce half.
func (c *Cipher) derive(half [halfNonce]byte) (cipher.AEAD, error) {
	var key [2 * aes.BlockSize]byte
	for i := range 2 {
		m := key[i*aes.BlockSize : (i+1)*aes.BlockSize]
		m[1], m[2] = byte(i+1), 'X'
		copy(m[4:], half[:])
		for j := range m {
			m[j] ^= c.k1[j]
		}
		c.block.Encrypt(m, m)
	}
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// next fills nonce with a fresh nonce and returns the cipher for it.
func (c *Cipher) next(nonce []byte) (cipher.AEAD, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.aead == nil || c.blocks == maxBlocks {
		_, _ = rand.Read(c.half[:])
		a, err := c.derive(c.half)
		if err != nil {
			return nil, err
		}
		c.aead, c.blocks = a, 0
	}
	clear(nonce)
	copy(nonce, c.half[:])
	binary.BigEndian.PutUint64(nonce[nonceBytes-8:], c.blocks)
	c.blocks++
	return c.aead, nil
}

// Seal writes the sealed form of plain to dst. dst has len(plain)+Overhead bytes and must not overlap plain. The block is bound
// to place: Open needs the same value.
func (c *Cipher) Seal(dst, plain, place []byte) error {
	aead, err := c.next(dst[:nonceBytes])
	if err != nil {
		return err
	}
	aead.Seal(dst[nonceBytes:nonceBytes], dst[halfNonce:nonceBytes], plain, place)
	return nil
}

// Open decrypts sealed into dst. dst has len(sealed)-Overhead bytes and must not overlap sealed. Open returns [ErrSealed] for
// another key, another place or damaged bytes.
func (c *Cipher) Open(dst, sealed, place []byte) error {
	if len(sealed) < Overhead {
		return ErrSealed
	}
	half := [halfNonce]byte(sealed)
	c.opening.RLock()
	aead := c.halves[half]
	c.opening.RUnlock()
	known := aead != nil
	if !known {
		var err error
		if aead, err = c.derive(half); err != nil {
			return err
		}
	}
	if _, err := aead.Open(dst[:0], sealed[halfNonce:nonceBytes], sealed[nonceBytes:], place); err != nil {
		return ErrSealed
	}
	if !known {
		c.opening.Lock()
		if len(c.halves) >= maxHalves {
			clear(c.halves)
		}
		c.halves[half] = aead
		c.opening.Unlock()
	}
	return nil
}
