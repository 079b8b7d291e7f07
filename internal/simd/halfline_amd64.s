#include "textflag.h"
#include "bits_amd64.h"

// Records of half a cache line: a code of 16 bytes, then factor and offset. Four
// codes fill a register, so the planes are the same two words four times.

DATA halfOrder<>+0(SB)/8, $0
DATA halfOrder<>+8(SB)/8, $2
DATA halfOrder<>+16(SB)/8, $4
DATA halfOrder<>+24(SB)/8, $6
DATA halfOrder<>+32(SB)/8, $1
DATA halfOrder<>+40(SB)/8, $3
DATA halfOrder<>+48(SB)/8, $5
DATA halfOrder<>+56(SB)/8, $7
GLOBL halfOrder<>(SB), RODATA|NOPTR, $64

DATA halfFactors<>+0(SB)/8, $0x0000000400000000
DATA halfFactors<>+8(SB)/8, $0x0000000c00000008
DATA halfFactors<>+16(SB)/8, $0x0000001400000010
DATA halfFactors<>+24(SB)/8, $0x0000001c00000018
GLOBL halfFactors<>(SB), RODATA|NOPTR, $32

DATA halfOffsets<>+0(SB)/8, $0x0000000500000001
DATA halfOffsets<>+8(SB)/8, $0x0000000d00000009
DATA halfOffsets<>+16(SB)/8, $0x0000001500000011
DATA halfOffsets<>+24(SB)/8, $0x0000001d00000019
GLOBL halfOffsets<>(SB), RODATA|NOPTR, $32

// HALFPLANES loads the planes at DX into Z24 to Z27.
#define HALFPLANES \
	VMOVDQU64 (DX), Z24    \
	VMOVDQU64 64(DX), Z25  \
	VMOVDQU64 128(DX), Z26 \
	VMOVDQU64 192(DX), Z27

// HALFCOUNT replaces the codes in r0 by their weighted counts, by word, under the planes p0 to
// p3. r1 to r4 are used up.
#define HALFCOUNT(r0, r1, r2, r3, r4, p0, p1, p2, p3) \
	VPANDQ   p3, r0, r1 \
	VPANDQ   p2, r0, r2 \
	VPANDQ   p1, r0, r3 \
	VPANDQ   p0, r0, r4 \
	WEIGH(r1, r2, r3, r4, r0)

// HALFFOUR replaces the codes of four records in acc by their counts.
#define HALFFOUR(acc) \
	HALFCOUNT(acc, Z1, Z2, Z3, Z4, Z24, Z25, Z26, Z27)

// HALFSUMS sets Y0 to scale*sum + shift of eight records, whose counts by word are in Z16
// (the first four) and Z17. Z28 is halfOrder.
#define HALFSUMS \
	VPUNPCKLQDQ Z17, Z16, Z0 \
	VPUNPCKHQDQ Z17, Z16, Z1 \
	VPADDQ      Z1, Z0, Z0   \
	VPERMQ      Z0, Z28, Z0  \
	VCVTQQ2PS   Z0, Y0       \
	VMULPS      Y14, Y0, Y0  \
	VADDPS      Y15, Y0, Y0

// func estimateHalfAVX512(dst *float32, recs *byte, planes *uint64, n int, scale, shift float32)
TEXT ·estimateHalfAVX512(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         recs+8(FP), SI
	MOVQ         planes+16(FP), DX
	MOVQ         n+24(FP), BX
	VBROADCASTSS scale+32(FP), Y14
	VBROADCASTSS shift+36(FP), Y15
	HALFPLANES
	VMOVDQU64    halfOrder<>(SB), Z28
	VMOVDQU      halfFactors<>(SB), Y12
	VMOVDQU      halfOffsets<>(SB), Y13

eight:
	CMPQ        BX, $8
	JLT         one
	PREFETCHT0  2048(SI)
	PREFETCHT0  2112(SI)
	PREFETCHT0  2176(SI)
	PREFETCHT0  2240(SI)
	VMOVDQU64   (SI), Z5
	VMOVDQU64   64(SI), Z6
	VMOVDQU64   128(SI), Z7
	VMOVDQU64   192(SI), Z8
	VSHUFI64X2  $0x88, Z6, Z5, Z16 // codes
	VSHUFI64X2  $0xDD, Z6, Z5, Z18 // factors and offsets
	VSHUFI64X2  $0x88, Z8, Z7, Z17
	VSHUFI64X2  $0xDD, Z8, Z7, Z19
	HALFFOUR(Z16)
	HALFFOUR(Z17)
	HALFSUMS
	VMOVDQA64   Z12, Z20
	VMOVDQA64   Z13, Z21
	VPERMI2PS   Z19, Z18, Z20
	VPERMI2PS   Z19, Z18, Z21
	VMULPS      Y20, Y0, Y0
	VADDPS      Y21, Y0, Y0
	VMOVUPS     Y0, (DI)
	ADDQ        $32, DI
	ADDQ        $256, SI
	SUBQ        $8, BX
	JMP         eight

one:
	TESTQ   BX, BX
	JLE     end
	MOVQ    SI, R8
	VMOVDQU (R8), X0
	HALFCOUNT(X0, X1, X2, X3, X4, X24, X25, X26, X27)
	HALFONE
	ADDQ    $4, DI
	ADDQ    $32, SI
	DECQ    BX
	JMP     one

end:
	VZEROUPPER
	RET

// HALFAT sets R8 to the record whose position is at off of the list at BX.
#define HALFAT(off) \
	MOVL off(BX), R8 \
	SHLQ $5, R8      \
	ADDQ SI, R8

// HALFAHEAD asks for a record that comes later.
#define HALFAHEAD(off) \
	HALFAT(off)        \
	PREFETCHT0 (R8)

// HALFPICK sets codes to those of the four records whose positions are from off on at BX, with
// factor and offset of each in x0 to x3.
#define HALFPICK(off, codes, low, x0, x1, x2, x3) \
	HALFAT(off)                            \
	VMOVDQU64     (R8), low                \
	VMOVSD        16(R8), x0               \
	HALFAT(off+4)                          \
	VINSERTI64X2  $1, (R8), codes, codes   \
	VMOVSD        16(R8), x1               \
	HALFAT(off+8)                          \
	VINSERTI64X2  $2, (R8), codes, codes   \
	VMOVSD        16(R8), x2               \
	HALFAT(off+12)                         \
	VINSERTI64X2  $3, (R8), codes, codes   \
	VMOVSD        16(R8), x3

// func pickHalfAVX512(dst *float32, recs *byte, positions *uint32, planes *uint64, n int, scale, shift float32)
TEXT ·pickHalfAVX512(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         recs+8(FP), SI
	MOVQ         positions+16(FP), BX
	MOVQ         planes+24(FP), DX
	MOVQ         n+32(FP), R9
	VBROADCASTSS scale+40(FP), Y14
	VBROADCASTSS shift+44(FP), Y15
	HALFPLANES
	VMOVDQU64    halfOrder<>(SB), Z28

eight:
	CMPQ R9, $8
	JLT  one
	CMPQ R9, $24
	JLT  near
	HALFAHEAD(64)
	HALFAHEAD(68)
	HALFAHEAD(72)
	HALFAHEAD(76)
	HALFAHEAD(80)
	HALFAHEAD(84)
	HALFAHEAD(88)
	HALFAHEAD(92)

near:
	HALFPICK(0, Z16, X16, X5, X6, X7, X8)
	HALFPICK(16, Z17, X17, X9, X10, X11, X12)
	HALFFOUR(Z16)
	HALFFOUR(Z17)
	HALFSUMS
	PAIRS(X5, X6, X7, X8, X9, X10, X11, X12)
	ADDQ        $32, DI
	ADDQ        $32, BX
	SUBQ        $8, R9
	JMP         eight

one:
	TESTQ   R9, R9
	JLE     end
	HALFAT(0)
	VMOVDQU (R8), X0
	HALFCOUNT(X0, X1, X2, X3, X4, X24, X25, X26, X27)
	HALFONE
	ADDQ    $4, DI
	ADDQ    $4, BX
	DECQ    R9
	JMP     one

end:
	VZEROUPPER
	RET
