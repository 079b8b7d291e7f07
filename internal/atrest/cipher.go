// Package atrest encrypts what is kept on disk: a cipher for blocks of files, and the envelope that holds a directory's key.
//
// The cipher is XAES-256-GCM (C2SP): AES-256-GCM under a key that is derived from the first half of a nonce of 192 bits. Random
// nonces of that size do not repeat however much is written, and a half that is used again needs no new derivation.
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
	// Overhead is how many bytes a sealed block is longer than what it holds.
	Overhead = nonceBytes + tagBytes

	nonceBytes = 24
	halfNonce  = nonceBytes / 2
	tagBytes   = 16
)

var (
	// ErrSealed says that bytes were not sealed under this key, at this place, as they are.
	ErrSealed = errors.New("encrypted with another key, or damaged")
	// ErrSize says that a key is too long or too short.
	ErrSize = errors.New("the key has another length")
)

// Most blocks that are sealed under one half of a nonce, and most halves that are remembered for opening.
const (
	maxBlocks = 1 << 32
	maxHalves = 1024
)

// Cipher seals and opens blocks. Safe for concurrent use.
type Cipher struct {
	block cipher.Block
	k1    [aes.BlockSize]byte

	mu     sync.Mutex
	half   [halfNonce]byte
	aead   cipher.AEAD // under half
	blocks uint64      // sealed under it

	opening sync.RWMutex
	halves  map[[halfNonce]byte]cipher.AEAD
}

// NewCipher returns the cipher of a key for one use, named by label. The key has KeyBytes bytes.
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

// newXAES is the cipher of C2SP itself.
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

// derive returns the cipher under a half of a nonce.
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

// next returns a nonce that no other block has.
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

// Seal writes the sealed form of plain to dst, which has len(plain)+Overhead bytes and does not overlap it. place is bound to it: Open wants
// the same.
func (c *Cipher) Seal(dst, plain, place []byte) error {
	aead, err := c.next(dst[:nonceBytes])
	if err != nil {
		return err
	}
	aead.Seal(dst[nonceBytes:nonceBytes], dst[halfNonce:nonceBytes], plain, place)
	return nil
}

// Open writes what sealed holds to dst, which has len(sealed)-Overhead bytes and does not overlap it. [ErrSealed] when the key or the place is another,
// or a bit is.
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
