#include "textflag.h"

// FMLA4 adds the products of four float32 lanes of n and m to d.
#define FMLA4(m, n, d) WORD $(0x4E20CC00 | (m)<<16 | (n)<<5 | (d))

// The float32 matrix product. A tile is up to four rows times sixteen columns: sums in
// V0 to V15, a row of b in V16 to V19, a value of a row of a in V20.

// MATROW adds the products of the value at p with the row of b to the sums from s on.
#define MATROW(p, s) \
	VLD1R.P 4(p), [V20.S4] \
	FMLA4(16, 20, s)       \
	FMLA4(17, 20, s+1)     \
	FMLA4(18, 20, s+2)     \
	FMLA4(19, 20, s+3)

// func matmul16NEON(dst *float32, ldd int, a *float32, lda int, b *float32, ldb, k, m int)
//
// Tiles of four rows, then two and one. R12 counts the rows that are left.
TEXT ·matmul16NEON(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD ldd+8(FP), R1
	MOVD a+16(FP), R2
	MOVD lda+24(FP), R3
	MOVD ldb+40(FP), R9
	MOVD m+56(FP), R12

next:
	CMP  $4, R12
	BGE  four
	CMP  $2, R12
	BGE  two
	CBNZ R12, one
	RET

four:
	MOVD b+32(FP), R4
	MOVD k+48(FP), R14
	MOVD R2, R5
	ADD  R3, R5, R6
	ADD  R3, R6, R7
	ADD  R3, R7, R8
	ADD  R3, R8, R2
	SUB  $4, R12
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16

fourLoop:
	VLD1 (R4), [V16.S4, V17.S4, V18.S4, V19.S4]
	ADD  R9, R4
	MATROW(R5, 0)
	MATROW(R6, 4)
	MATROW(R7, 8)
	MATROW(R8, 12)
	SUBS $1, R14
	BNE  fourLoop
	VST1 [V0.S4, V1.S4, V2.S4, V3.S4], (R0)
	ADD  R1, R0
	VST1 [V4.S4, V5.S4, V6.S4, V7.S4], (R0)
	ADD  R1, R0
	VST1 [V8.S4, V9.S4, V10.S4, V11.S4], (R0)
	ADD  R1, R0
	VST1 [V12.S4, V13.S4, V14.S4, V15.S4], (R0)
	ADD  R1, R0
	B    next

two:
	MOVD b+32(FP), R4
	MOVD k+48(FP), R14
	MOVD R2, R5
	ADD  R3, R5, R6
	ADD  R3, R6, R2
	SUB  $2, R12
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16

twoLoop:
	VLD1 (R4), [V16.S4, V17.S4, V18.S4, V19.S4]
	ADD  R9, R4
	MATROW(R5, 0)
	MATROW(R6, 4)
	SUBS $1, R14
	BNE  twoLoop
	VST1 [V0.S4, V1.S4, V2.S4, V3.S4], (R0)
	ADD  R1, R0
	VST1 [V4.S4, V5.S4, V6.S4, V7.S4], (R0)
	ADD  R1, R0
	B    next

one:
	MOVD b+32(FP), R4
	MOVD k+48(FP), R14
	MOVD R2, R5
	ADD  R3, R5, R2
	SUB  $1, R12
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16

oneLoop:
	VLD1 (R4), [V16.S4, V17.S4, V18.S4, V19.S4]
	ADD  R9, R4
	MATROW(R5, 0)
	SUBS $1, R14
	BNE  oneLoop
	VST1 [V0.S4, V1.S4, V2.S4, V3.S4], (R0)
	ADD  R1, R0
	B    next
