package pdf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
)

// Methods of a crypt filter (ISO 32000-2, 7.6.6).
const (
	cryptNone = iota
	cryptRC4
	cryptAES128
	cryptAES256
)

// maxCryptDepth bounds the nesting of an object whose strings are decrypted.
const maxCryptDepth = 64

// passwordPad fills a password to 32 bytes (ISO 32000-1, 7.6.3.3); the empty password is all padding.
var passwordPad = []byte("\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08" +
	"\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A")

// decrypter has the file key of the standard security handler.
type decrypter struct {
	key          []byte
	streamMethod int
	stringMethod int
	encryptMeta  bool
	locked       bool // the empty password does not open the file
}

// setCrypt makes the decrypter that the trailer asks for. It returns an error if the file needs a password.
func (d *document) setCrypt() error {
	d.crypt = nil
	enc := d.dict(d.trailer["Encrypt"])
	if enc == nil {
		if d.trailer["Encrypt"] != nil && d.repaired {
			return fmt.Errorf("%w: key data is damaged", ErrEncrypted)
		}
		if d.trailer["Encrypt"] != nil {
			return errSyntax
		}
		return nil
	}
	if f := d.name(enc["Filter"]); f != "Standard" {
		return d.lock("unknown security handler")
	}
	v, _ := d.integer(enc["V"])
	r, _ := d.integer(enc["R"])
	c := &decrypter{streamMethod: cryptRC4, stringMethod: cryptRC4, encryptMeta: true}
	if b, ok := d.resolve(enc["EncryptMetadata"]).(bool); ok {
		c.encryptMeta = b
	}
	length, ok := d.integer(enc["Length"])
	if !ok || length < 40 || length > 256 {
		length = 40
	}
	switch v {
	case 1:
		length = 40
	case 2, 3:
	case 4, 5:
		if v == 4 {
			length = 128
		}
		filters := d.dict(enc["CF"])
		c.streamMethod = d.cryptMethod(filters, enc["StmF"])
		c.stringMethod = d.cryptMethod(filters, enc["StrF"])
		if c.streamMethod < 0 || c.stringMethod < 0 {
			return d.lock("unknown crypt filter")
		}
	default:
		return d.lock("unknown version of encryption")
	}
	if v == 5 {
		c.key = d.fileKey256(enc, r)
	} else {
		c.key = d.fileKey(enc, r, length/8, c.encryptMeta)
	}
	if c.key == nil {
		return d.lock("a password is needed")
	}
	d.crypt = c
	// The objects parsed so far contain encrypted strings.
	clear(d.cache)
	clear(d.objs)
	return nil
}

// lock records that the document cannot be opened, and ends the reading.
func (d *document) lock(reason string) error {
	err := fmt.Errorf("%w: %s", ErrEncrypted, reason)
	d.crypt = &decrypter{locked: true}
	d.fail(err)
	return err
}

// cryptMethod returns the method of a named crypt filter, or -1 if it is unknown.
func (d *document) cryptMethod(filters dict, which any) int {
	n := d.name(which)
	if n == "" || n == "Identity" {
		return cryptNone
	}
	switch d.name(d.dict(filters[n])["CFM"]) {
	case "None":
		return cryptNone
	case "V2":
		return cryptRC4
	case "AESV2":
		return cryptAES128
	case "AESV3":
		return cryptAES256
	}
	return -1
}

// fileKey computes and checks the key of revisions 2 to 4 (ISO 32000-1, algorithms 2, 4 and 5).
func (d *document) fileKey(enc dict, r, n int, meta bool) []byte {
	owner, user := d.str(enc["O"]), d.str(enc["U"])
	perms, _ := d.resolve(enc["P"]).(int)
	if len(owner) < 32 || len(user) < 16 || n > 16 {
		return nil
	}
	var id str
	if ids := d.array(d.trailer["ID"]); len(ids) > 0 {
		id = d.str(ids[0])
	}
	h := md5.New()
	h.Write(passwordPad)
	h.Write([]byte(owner[:32]))
	h.Write(binary.LittleEndian.AppendUint32(nil, uint32(perms)))
	h.Write([]byte(id))
	if r >= 4 && !meta {
		h.Write([]byte{0xff, 0xff, 0xff, 0xff})
	}
	key := h.Sum(nil)
	if r < 3 {
		key = key[:5]
		out := bytes.Clone(passwordPad)
		xorRC4(key, out)
		if !bytes.Equal(out, []byte(user[:min(32, len(user))])) {
			return nil
		}
		return key
	}
	for range 50 {
		sum := md5.Sum(key[:n])
		key = sum[:]
	}
	key = key[:n]
	h = md5.New()
	h.Write(passwordPad)
	h.Write([]byte(id))
	check := h.Sum(nil)
	round := make([]byte, n)
	for i := range byte(20) {
		for j := range key {
			round[j] = key[j] ^ i
		}
		xorRC4(round, check)
	}
	if !bytes.Equal(check, []byte(user[:16])) {
		return nil
	}
	return key
}

// fileKey256 computes the key of revisions 5 and 6 (ISO 32000-2, algorithm 2.A) for the empty user password.
func (d *document) fileKey256(enc dict, r int) []byte {
	user, wrapped := []byte(d.str(enc["U"])), []byte(d.str(enc["UE"]))
	if len(user) < 48 || len(wrapped) < 32 {
		return nil
	}
	hash := hashR6
	if r == 5 {
		hash = func(salt []byte) []byte { s := sha256.Sum256(salt); return s[:] }
	}
	if !bytes.Equal(hash(user[32:40]), user[:32]) {
		return nil
	}
	block, err := aes.NewCipher(hash(user[40:48]))
	if err != nil {
		return nil
	}
	key := make([]byte, 32)
	cipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(key, wrapped[:32])
	return key
}

// hashR6 is the hardened hash of revision 6 (ISO 32000-2, algorithm 2.B) for the empty password.
func hashR6(salt []byte) []byte {
	sum := sha256.Sum256(salt)
	k := sum[:]
	for i := 0; ; i++ {
		k1 := bytes.Repeat(k, 64)
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil
		}
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(k1, k1)
		mod := 0
		for _, b := range k1[:16] {
			mod += int(b)
		}
		switch mod % 3 {
		case 0:
			s := sha256.Sum256(k1)
			k = s[:]
		case 1:
			s := sha512.Sum384(k1)
			k = s[:]
		default:
			s := sha512.Sum512(k1)
			k = s[:]
		}
		if i >= 63 && int(k1[len(k1)-1]) <= i-31 {
			return k[:32]
		}
	}
}

func xorRC4(key, data []byte) {
	if c, err := rc4.NewCipher(key); err == nil {
		c.XORKeyStream(data, data)
	}
}

// objectKey derives the key of one object (ISO 32000-1, algorithm 1).
func (c *decrypter) objectKey(id ref, method int) []byte {
	if method == cryptAES256 {
		return c.key
	}
	h := md5.New()
	h.Write(c.key)
	h.Write([]byte{byte(id.num), byte(id.num >> 8), byte(id.num >> 16), byte(id.gen), byte(id.gen >> 8)})
	if method == cryptAES128 {
		h.Write([]byte("sAlT"))
	}
	return h.Sum(nil)[:min(len(c.key)+5, 16)]
}

// bytes returns b decrypted. It does not change b.
func (c *decrypter) bytes(b []byte, id ref, method int) []byte {
	switch method {
	case cryptNone:
		return b
	case cryptRC4:
		out := bytes.Clone(b)
		xorRC4(c.objectKey(id, method), out)
		return out
	}
	if len(b) < 2*aes.BlockSize {
		return nil
	}
	block, err := aes.NewCipher(c.objectKey(id, method))
	if err != nil {
		return nil
	}
	body := b[aes.BlockSize:]
	out := make([]byte, len(body)/aes.BlockSize*aes.BlockSize)
	cipher.NewCBCDecrypter(block, b[:aes.BlockSize]).CryptBlocks(out, body[:len(out)])
	if pad := int(out[len(out)-1]); len(body)%aes.BlockSize == 0 && pad >= 1 && pad <= aes.BlockSize {
		out = out[:len(out)-pad]
	}
	return out
}

// strings decrypts the strings in o. Arrays and dictionaries are changed in place.
func (c *decrypter) strings(o any, id ref, depth int) any {
	if depth > maxCryptDepth || c.locked {
		return o
	}
	switch v := o.(type) {
	case str:
		return str(c.bytes([]byte(v), id, c.stringMethod))
	case array:
		for i := range v {
			v[i] = c.strings(v[i], id, depth+1)
		}
	case dict:
		for k := range v {
			v[k] = c.strings(v[k], id, depth+1)
		}
	}
	return o
}
