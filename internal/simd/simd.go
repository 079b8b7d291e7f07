// Package simd holds the inner loops of vector search: dot products of one
// query with a block of rows, for 8-bit, 1-bit and float32 rows, and the sum of
// scaled rows that an embedding is.
//
// Every kernel has a portable Go version and assembly: the dot products for AVX-512
// (VNNI and VPOPCNTDQ) and AVX2 on amd64 and for NEON with the dot product extension on
// arm64, the sum for AVX2; other machines run the Go version. All versions
// of a kernel return the same bits: integer kernels because their sums are
// exact, the float32 kernels because the order of their additions is part of their
// contract. So a ranking does not depend on the machine that computed it.
//
// The widest instruction set that the machine has is chosen once, at start. The
// environment variable CONTEXTMEM_CPU (avx512, avx2, neon or generic) lowers
// the choice; a value that the machine cannot run, or an unknown one, is ignored.
//
// All functions are safe for concurrent use on data that nobody writes. They
// panic with an index error when a slice is shorter than its documentation asks:
// lengths are the caller's to check, once, where data enters.
package simd

import "os"

// Level is a set of instructions that kernels are written for.
type Level int

// The levels, from the portable one up.
const (
	Generic Level = iota // plain Go
	AVX2
	AVX512 // AVX-512 F, BW, DQ and VL with VNNI and VPOPCNTDQ
	NEON   // with SDOT: mandatory from Armv8.4 on, common before
)

// String returns the level's name as CONTEXTMEM_CPU spells it.
func (l Level) String() string {
	switch l {
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	case NEON:
		return "neon"
	}
	return "generic"
}

var active = choose(os.Getenv("CONTEXTMEM_CPU"), supported())

// Active returns the level that the kernels of this process run at.
func Active() Level { return active }

// choose returns the level of that name, or the best when it is not among have.
func choose(name string, have []Level) Level {
	for _, l := range have {
		if l.String() == name {
			return l
		}
	}
	return best(have)
}

// best returns the widest of some levels, the last.
func best(have []Level) Level { return have[len(have)-1] }

// Row sizes are multiples of these, so that no kernel has a tail.
const (
	// AlignU8 is the number of bytes that the stride of 8-bit rows and of 1-bit
	// records is a multiple of: one AVX-512 register and one cache line.
	AlignU8 = 64
	// AlignF32 is the number of values that the length of float32 rows is a
	// multiple of: one AVX-512 register and one cache line.
	AlignF32 = 16
)

// Bias is what is added to a signed 8-bit value to store it in a row.
const Bias = 128

// DotU8 sets dst[i] to the sum over j of rows[i*len(q)+j]*q[j]. Rows hold signed
// values in -127..127 shifted up by Bias, as VPDPBUSD wants one unsigned operand;
// the signed dot product is dst[i] - Bias*sum(q). Padding costs nothing: where q
// is 0 the row's byte does not matter.
//
// len(q) is a multiple of AlignU8, at most 65536 (sums fit an int32);
// len(rows) is at least len(dst)*len(q).
func DotU8(dst []int32, rows []uint8, q []int8) {
	if len(dst) == 0 || len(q) == 0 {
		clear(dst)
		return
	}
	_ = rows[len(dst)*len(q)-1]
	_ = q[len(q)&^(AlignU8-1)-1]
	dotU8(dst, rows, q)
}

// DotF32 sets dst[i] to the dot product of q and rows[i*len(q):(i+1)*len(q)].
// The sum has 16 lanes, lane j adding the rounded products of elements j, j+16,
// j+32, ... in that order; then lane j adds lane j+8, then j+4, j+2, j+1.
//
// len(q) is a multiple of AlignF32; len(rows) is at least len(dst)*len(q).
func DotF32(dst []float32, rows []float32, q []float32) {
	if len(dst) == 0 || len(q) == 0 {
		clear(dst)
		return
	}
	_ = rows[len(dst)*len(q)-1]
	_ = q[len(q)&^(AlignF32-1)-1]
	dotF32(dst, rows, q)
}

// AddScaled adds scale*int8(row[i]) to dst[i]; the product is rounded before it is added.
//
// len(dst) is a multiple of AlignF32; len(row) is at least len(dst).
func AddScaled(dst []float32, row []uint8, scale float32) {
	if len(dst) == 0 {
		return
	}
	_ = row[len(dst)-1]
	_ = dst[len(dst)&^(AlignF32-1)-1]
	addScaled(dst, row, scale)
}

// Prefetch asks for the cache lines of b, which is not empty, so that rows picked
// here and there are on their way while others are worked on. It does nothing
// where that is not to be had.
func Prefetch(b []byte) { prefetch(&b[0], len(b)) }
