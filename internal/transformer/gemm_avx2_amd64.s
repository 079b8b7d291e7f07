#include "textflag.h"

// The 8-bit matrix product. VPMADDUBSW would saturate, so both operands are 16 bits wide:
// rows are quantised to 16-bit values, weights are widened here. Sixteen bytes of a
// panel are four inputs of four columns, multiplied with four values of a row, repeated for
// the columns; the two sums of each column are added at the end. A tile is some
// rows times eight columns, half a panel.

// WEIGHTS loads the step's weights of eight columns.
#define WEIGHTS \
	VPMOVSXBW (DX), Y12 \
	VPMOVSXBW 16(DX), Y13

// ROW adds the products of four values at addr to a row's sums.
#define ROW(addr, s0, s1) \
	VPBROADCASTQ addr, Y14     \
	VPMADDWD     Y12, Y14, Y15 \
	VPMADDWD     Y13, Y14, Y14 \
	VPADDD       Y15, s0, s0   \
	VPADDD       Y14, s1, s1

// STORE finishes the row at DI and moves to the next.
#define STORE(s0, s1) \
	VPHADDD      s1, s0, s0         \
	VPERMQ       $0xD8, s0, s0      \
	VCVTDQ2PS    s0, s0             \
	VMULPS       (R13), s0, s0      \
	VBROADCASTSS (R12), Y12         \
	VBROADCASTSS 4(R12), Y13        \
	VMOVUPS      512(R13), Y14      \
	VFMADD231PS  256(R13), Y13, Y14 \
	VFMADD213PS  Y14, Y12, s0       \
	VMOVUPS      s0, (DI)           \
	ADDQ         $8, R12            \
	ADDQ         BX, DI

// CLEAR sets a row's sums to 0.
#define CLEAR(s0, s1) \
	VPXOR s0, s0, s0 \
	VPXOR s1, s1, s1

// REWIND moves from the end of n rows of a to the beginning of the row after them.
#define REWIND(n) \
	MOVQ   steps+40(FP), AX \
	SHLQ   $3, AX           \
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

// func gemmTilesAVX2(dst *float32, ldd int, a *uint8, lda int, w *byte, steps int, rows *rowScale, cols *float32, n int)
//
// Tiles of six rows, then four, two and one. R10 counts the rows that are left.
TEXT ·gemmTilesAVX2(SB), NOSPLIT, $0-72
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
	ROW((SI), Y0, Y1)
	ROW((SI)(CX*1), Y2, Y3)
	ROW((SI)(CX*2), Y4, Y5)
	ROW((R9), Y6, Y7)
	ROW((R9)(CX*1), Y8, Y9)
	ROW((R9)(CX*2), Y10, Y11)
	ADDQ $64, DX
	ADDQ $8, SI
	ADDQ $8, R9
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
	ROW((SI), Y0, Y1)
	ROW((SI)(CX*1), Y2, Y3)
	ROW((SI)(CX*2), Y4, Y5)
	ROW((R9), Y6, Y7)
	ADDQ $64, DX
	ADDQ $8, SI
	ADDQ $8, R9
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
	ROW((SI), Y0, Y1)
	ROW((SI)(CX*1), Y2, Y3)
	ADDQ $64, DX
	ADDQ $8, SI
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
	ROW((SI), Y0, Y1)
	ADDQ $64, DX
	ADDQ $8, SI
	DECQ AX
	JNZ  oneLoop

	STORE(Y0, Y1)
	REWIND(1)
	JMP next
