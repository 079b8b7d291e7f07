#include "textflag.h"

// The 8-bit matrix product with the 256-bit multiply of AVX-VNNI. A tile is some rows times
// the sixteen columns of a panel. A step takes four inputs: 64 bytes of weights are
// multiplied with four bytes of a row, repeated for the columns.

// DP is VPDPBUSD in its VEX form, which the assembler does not know: it adds to the eight
// lanes of Y(s) the dot products of four unsigned bytes each of Y(a) with four
// signed ones of Y(w).
#define DP(w, a, s) \
	BYTE $0xC4; BYTE $(0xE2 ^ ((s)>>3)<<7 ^ ((w)>>3)<<5); BYTE $(((15-(a))<<3) | 5); BYTE $0x50; BYTE $(0xC0 | ((s)&7)<<3 | ((w)&7))

// WEIGHTS loads the step's weights.
#define WEIGHTS \
	VMOVDQU (DX), Y12 \
	VMOVDQU 32(DX), Y13

// ROW adds the products of four bytes at addr to a row's sums, Y(s) and the next.
#define ROW(addr, s) \
	VPBROADCASTD addr, Y14 \
	DP(12, 14, s)          \
	DP(13, 14, s+1)

// SCALE turns eight sums into float32 and stores them at at(DI): column parameters at
// at(R13), row scale in Y12, row low in Y13.
#define SCALE(at, s) \
	VCVTDQ2PS   s, s                    \
	VMULPS      at(R13), s, s           \
	VMOVUPS     (512+at)(R13), Y14      \
	VFMADD231PS (256+at)(R13), Y13, Y14 \
	VFMADD213PS Y14, Y12, s             \
	VMOVUPS     s, at(DI)

// STORE finishes the row at DI and moves to the next.
#define STORE(s0, s1) \
	VBROADCASTSS (R12), Y12  \
	VBROADCASTSS 4(R12), Y13 \
	SCALE(0, s0)             \
	SCALE(32, s1)            \
	ADDQ         $8, R12     \
	ADDQ         BX, DI

// CLEAR sets a row's sums to 0.
#define CLEAR(s0, s1) \
	VPXOR s0, s0, s0 \
	VPXOR s1, s1, s1

// REWIND moves from the end of n rows of a to the beginning of the row after them.
#define REWIND(n) \
	MOVQ   steps+40(FP), AX \
	SHLQ   $2, AX           \
	SUBQ   AX, SI           \
	IMUL3Q $n, CX, AX       \
	ADDQ   AX, SI           \
	SUBQ   $n, R10

// ARGS loads the arguments.
#define ARGS \
	MOVQ dst+0(FP), DI    \
	MOVQ ldd+8(FP), BX    \
	MOVQ a+16(FP), SI     \
	MOVQ lda+24(FP), CX   \
	MOVQ rows+48(FP), R12 \
	MOVQ cols+56(FP), R13 \
	MOVQ n+64(FP), R10

// func gemmTilesAVXVNNI(dst *float32, ldd int, a *uint8, lda int, w *byte, steps int, rows *rowScale, cols *float32, n int)
//
// Tiles of six rows, then four, two and one. R10 counts the rows that are left.
TEXT ·gemmTilesAVXVNNI(SB), NOSPLIT, $0-72
	ARGS

next:
	CMPQ R10, $6
	JGE  six
	CMPQ R10, $4
	JGE  four
	CMPQ R10, $2
	JGE  two
	CMPQ R10, $1
	JGE  one
	VZEROUPPER
	RET

six:
	MOVQ w+32(FP), DX
	MOVQ steps+40(FP), AX
	LEAQ (CX)(CX*2), R9
	ADDQ SI, R9
	CLEAR(Y0, Y1)
	CLEAR(Y2, Y3)
	CLEAR(Y4, Y5)
	CLEAR(Y6, Y7)
	CLEAR(Y8, Y9)
	CLEAR(Y10, Y11)

sixLoop:
	WEIGHTS
	ROW((SI), 0)
	ROW((SI)(CX*1), 2)
	ROW((SI)(CX*2), 4)
	ROW((R9), 6)
	ROW((R9)(CX*1), 8)
	ROW((R9)(CX*2), 10)
	ADDQ $64, DX
	ADDQ $4, SI
	ADDQ $4, R9
	DECQ AX
	JNZ  sixLoop

	STORE(Y0, Y1)
	STORE(Y2, Y3)
	STORE(Y4, Y5)
	STORE(Y6, Y7)
	STORE(Y8, Y9)
	STORE(Y10, Y11)
	REWIND(6)
	JMP next

four:
	MOVQ w+32(FP), DX
	MOVQ steps+40(FP), AX
	LEAQ (CX)(CX*2), R9
	ADDQ SI, R9
	CLEAR(Y0, Y1)
	CLEAR(Y2, Y3)
	CLEAR(Y4, Y5)
	CLEAR(Y6, Y7)

fourLoop:
	WEIGHTS
	ROW((SI), 0)
	ROW((SI)(CX*1), 2)
	ROW((SI)(CX*2), 4)
	ROW((R9), 6)
	ADDQ $64, DX
	ADDQ $4, SI
	ADDQ $4, R9
	DECQ AX
	JNZ  fourLoop

	STORE(Y0, Y1)
	STORE(Y2, Y3)
	STORE(Y4, Y5)
	STORE(Y6, Y7)
	REWIND(4)
	JMP next

two:
	MOVQ w+32(FP), DX
	MOVQ steps+40(FP), AX
	CLEAR(Y0, Y1)
	CLEAR(Y2, Y3)

twoLoop:
	WEIGHTS
	ROW((SI), 0)
	ROW((SI)(CX*1), 2)
	ADDQ $64, DX
	ADDQ $4, SI
	DECQ AX
	JNZ  twoLoop

	STORE(Y0, Y1)
	STORE(Y2, Y3)
	REWIND(2)
	JMP next

one:
	MOVQ w+32(FP), DX
	MOVQ steps+40(FP), AX
	CLEAR(Y0, Y1)

oneLoop:
	WEIGHTS
	ROW((SI), 0)
	ADDQ $64, DX
	ADDQ $4, SI
	DECQ AX
	JNZ  oneLoop

	STORE(Y0, Y1)
	REWIND(1)
	JMP next

// func bytesAVXVNNI(dst *uint8, src *float32, n int, low, inv float32)
TEXT ·bytesAVXVNNI(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS low+24(FP), Y4
	VBROADCASTSS inv+28(FP), Y5

loop:
	VMOVUPS      (SI), Y0
	VMOVUPS      32(SI), Y1
	VSUBPS       Y4, Y0, Y0
	VSUBPS       Y4, Y1, Y1
	VMULPS       Y5, Y0, Y0
	VMULPS       Y5, Y1, Y1
	VCVTPS2DQ    Y0, Y0
	VCVTPS2DQ    Y1, Y1
	VPACKUSDW    Y1, Y0, Y0 // quarters 0 2 1 3
	VPERMQ       $0xD8, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPACKUSWB    X1, X0, X0
	VMOVDQU      X0, (DI)
	ADDQ         $64, SI
	ADDQ         $16, DI
	SUBQ         $16, CX
	JNZ          loop
	VZEROUPPER
	RET
