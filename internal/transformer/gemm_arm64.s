#include "textflag.h"

// Instructions that the assembler has no name for, on four float32 or 32-bit lanes.
#define FMUL4(m, n, d) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FMLA4(m, n, d) WORD $(0x4E20CC00 | (m)<<16 | (n)<<5 | (d))
#define SCVTF4(n, d) WORD $(0x4E21D800 | (n)<<5 | (d))

// SDOT adds to the four lanes of d the dot products of four signed bytes each of n with
// the i-th four bytes of m (SDOT Vd.4S, Vn.16B, Vm.4B[i]).
#define SDOT(i, m, n, d) WORD $(0x4F80E000 | ((i)&1)<<21 | (m)<<16 | ((i)>>1)<<11 | (n)<<5 | (d))

// The 8-bit matrix product. A tile is up to four rows times the sixteen columns of a
// panel; 64 bytes of weights are four inputs of each. Sums are in V0 to V15, a step's
// weights in V16 to V19, the rows' values in V20 to V23.

// DOT adds the i-th four values of a row to its sums.
#define DOT(i, a, s) \
	SDOT(i, a, 16, s)   \
	SDOT(i, a, 17, s+1) \
	SDOT(i, a, 18, s+2) \
	SDOT(i, a, 19, s+3)

// SCALE turns the four sums in s into float32 in V30 and stores them: column parameters
// at R9, row scale in V24, row low in V25.
#define SCALE(s) \
	SCVTF4(s, 28)            \
	VLD1   (R9), [V29.S4]    \
	FMUL4(29, 28, 28)        \
	ADD    $256, R9, R10     \
	VLD1   (R10), [V29.S4]   \
	ADD    $512, R9, R10     \
	VLD1   (R10), [V30.S4]   \
	FMLA4(29, 25, 30)        \
	FMLA4(28, 24, 30)        \
	VST1.P [V30.S4], 16(R11) \
	ADD    $16, R9

// STORE finishes the row at R0 whose first sums are in s and moves to the next.
#define STORE(s) \
	VLD1R.P 4(R13), [V24.S4] \
	VLD1R.P 4(R13), [V25.S4] \
	MOVD    cols+56(FP), R9  \
	MOVD    R0, R11          \
	SCALE(s)                 \
	SCALE(s+1)               \
	SCALE(s+2)               \
	SCALE(s+3)               \
	ADD     R1, R0

// func gemmTilesNEON(dst *float32, ldd int, a *uint8, lda int, w *byte, steps int, rows *rowScale, cols *float32, n int)
//
// Tiles of four rows, then two and one. R12 counts the rows that are left.
TEXT ·gemmTilesNEON(SB), NOSPLIT, $0-72
	MOVD dst+0(FP), R0
	MOVD ldd+8(FP), R1
	MOVD a+16(FP), R2
	MOVD lda+24(FP), R3
	MOVD rows+48(FP), R13
	MOVD n+64(FP), R12

next:
	CMP  $4, R12
	BGE  four
	CMP  $2, R12
	BGE  two
	CBNZ R12, one
	RET

four:
	MOVD w+32(FP), R4
	MOVD steps+40(FP), R14
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
	SUBS $4, R14
	BLT  fourRest

fourLoop:
	VLD1.P 16(R5), [V20.B16]
	VLD1.P 16(R6), [V21.B16]
	VLD1.P 16(R7), [V22.B16]
	VLD1.P 16(R8), [V23.B16]
	VLD1.P 64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	DOT(0, 20, 0)
	DOT(0, 21, 4)
	DOT(0, 22, 8)
	DOT(0, 23, 12)
	VLD1.P 64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	DOT(1, 20, 0)
	DOT(1, 21, 4)
	DOT(1, 22, 8)
	DOT(1, 23, 12)
	VLD1.P 64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	DOT(2, 20, 0)
	DOT(2, 21, 4)
	DOT(2, 22, 8)
	DOT(2, 23, 12)
	VLD1.P 64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	DOT(3, 20, 0)
	DOT(3, 21, 4)
	DOT(3, 22, 8)
	DOT(3, 23, 12)
	SUBS   $4, R14
	BGE    fourLoop

fourRest:
	ADDS $4, R14
	BEQ  fourDone

fourStep:
	VLD1.P  64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	FMOVS.P 4(R5), F20
	DOT(0, 20, 0)
	FMOVS.P 4(R6), F21
	DOT(0, 21, 4)
	FMOVS.P 4(R7), F22
	DOT(0, 22, 8)
	FMOVS.P 4(R8), F23
	DOT(0, 23, 12)
	SUBS    $1, R14
	BNE     fourStep

fourDone:
	STORE(0)
	STORE(4)
	STORE(8)
	STORE(12)
	B next

two:
	MOVD w+32(FP), R4
	MOVD steps+40(FP), R14
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
	SUBS $4, R14
	BLT  twoRest

twoLoop:
	VLD1.P 16(R5), [V20.B16]
	VLD1.P 16(R6), [V21.B16]
	VLD1.P 64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	DOT(0, 20, 0)
	DOT(0, 21, 4)
	VLD1.P 64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	DOT(1, 20, 0)
	DOT(1, 21, 4)
	VLD1.P 64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	DOT(2, 20, 0)
	DOT(2, 21, 4)
	VLD1.P 64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	DOT(3, 20, 0)
	DOT(3, 21, 4)
	SUBS   $4, R14
	BGE    twoLoop

twoRest:
	ADDS $4, R14
	BEQ  twoDone

twoStep:
	VLD1.P  64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	FMOVS.P 4(R5), F20
	DOT(0, 20, 0)
	FMOVS.P 4(R6), F21
	DOT(0, 21, 4)
	SUBS    $1, R14
	BNE     twoStep

twoDone:
	STORE(0)
	STORE(4)
	B next

one:
	MOVD w+32(FP), R4
	MOVD steps+40(FP), R14
	MOVD R2, R5
	ADD  R3, R5, R2
	SUB  $1, R12
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	SUBS $4, R14
	BLT  oneRest

oneLoop:
	VLD1.P 16(R5), [V20.B16]
	VLD1.P 64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	DOT(0, 20, 0)
	VLD1.P 64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	DOT(1, 20, 0)
	VLD1.P 64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	DOT(2, 20, 0)
	VLD1.P 64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	DOT(3, 20, 0)
	SUBS   $4, R14
	BGE    oneLoop

oneRest:
	ADDS $4, R14
	BEQ  oneDone

oneStep:
	VLD1.P  64(R4), [V16.B16, V17.B16, V18.B16, V19.B16]
	FMOVS.P 4(R5), F20
	DOT(0, 20, 0)
	SUBS    $1, R14
	BNE     oneStep

oneDone:
	STORE(0)
	B next
