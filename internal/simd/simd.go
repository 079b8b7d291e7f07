// Package simd holds the inner loops of vector search. They compute dot products of one query with a block of rows, for 8-bit,
// 1-bit and float32 rows. They also compute the sum of scaled rows that makes an embedding.
//
// Every kernel has a portable Go version and assembly versions. The dot products have assembly for AVX-512 (VNNI and VPOPCNTDQ)
// and AVX2 on amd64, and for NEON with the dot product extension on arm64. The sum has assembly for AVX2. Other machines run
// the Go version. All versions of a kernel return the same bits, so that a ranking does not depend on the machine. The sums of
// integer kernels are exact. The contract of the float32 kernels fixes the order of additions.
//
// The widest instruction set of the machine is chosen at start. The environment variable CONTEXTMEM_CPU (avx512, avx2, neon or
// generic) can lower the choice. A value that is unknown, or that the machine does not support, is ignored.
//
// All functions are safe for concurrent use on data that is not being written. They panic with an index error if a slice is
// shorter than documented. The caller should check lengths once, where data enters.
package simd

import "os"

// Level is an instruction set for which kernels exist.
type Level int

// The levels, in ascending order on each architecture.
const (
	Generic Level = iota // plain Go
	AVX2
	AVX512 // AVX-512 F, BW, DQ and VL with VNNI and VPOPCNTDQ
	NEON   // with SDOT: mandatory from Armv8.4 on, common before
)

// String returns the level's name as written in CONTEXTMEM_CPU.
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

// Active returns the level of the kernels used by this process.
func Active() Level { return active }

// choose returns the level of the given name, or the best of have if have does not contain it.
func choose(name string, have []Level) Level {
	for _, l := range have {
		if l.String() == name {
			return l
		}
	}
	return best(have)
}

// best returns the widest of the levels, which is the last one.
func best(have []Level) Level { return have[len(have)-1] }

// Row sizes are multiples of these values, so that kernels need no code for a remainder.
const (
	// The stride in bytes of 8-bit rows and 1-bit records is a multiple of AlignU8: one AVX-512 register and one cache line.
	AlignU8 = 64
	// The length in values of float32 rows is a multiple of AlignF32: one AVX-512 register and one cache line.
	AlignF32 = 16
)

// Bias is added to a signed 8-bit value to store it in a row.
const Bias = 128

// DotU8 sets dst[i] to the sum over j of rows[i*len(q)+j]*q[j]. Rows hold signed values from -127 to 127 with Bias added,
// because VPDPBUSD needs one unsigned operand. The signed dot product is dst[i] - Bias*sum(q). Where q is 0, the row's byte has
// no effect, so padding may have any value.
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

// DotF32 sets dst[i] to the dot product of q and rows[i*len(q):(i+1)*len(q)]. The sum has 16 lanes. Lane j adds the rounded
// products of elements j, j+16, j+32, ... in that order. Then lane j adds lane j+8, then j+4, j+2, j+1.
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

// AddScaled adds scale*int8(row[i]) to dst[i]. The product is rounded before the addition.
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

// Prefetch loads the cache lines of b, which must not be empty, in the background. It hides the latency of scattered rows
// behind other work. It does nothing on machines without a prefetch instruction.
func Prefetch(b []byte) { prefetch(&b[0], len(b)) }
