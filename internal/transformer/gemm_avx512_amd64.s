#include "textflag.h"

// The 8-bit matrix product. A tile is some rows times the 64 columns of a group, four
// panels of sixteen. A step takes four inputs: a panel's 64 bytes of weights are
// multiplied with four bytes of a row, repeated in all sixteen lanes.

// WEIGHTS loads the step's weights of the four panels.
#define WEIGHTS \
	VMOVDQU64 (DX), Z24       \
	VMOVDQU64 (DX)(R8*1), Z25 \
	VMOVDQU64 (DX)(R8*2), Z26 \
	VMOVDQU64 (DX)(R11*1), Z27

// ROW adds the products of four bytes at addr to a row's sums.
#define ROW(addr, s0, s1, s2, s3) \
	VPBROADCASTD addr, Z28    \
	VPDPBUSD     Z24, Z28, s0 \
	VPDPBUSD     Z25, Z28, s1 \
	VPDPBUSD     Z26, Z28, s2 \
	VPDPBUSD     Z27, Z28, s3

// CLEAR sets a row's sums to 0.
#define CLEAR(s0, s1, s2, s3) \
	VPXORD s0, s0, s0 \
	VPXORD s1, s1, s1 \
	VPXORD s2, s2, s2 \
	VPXORD s3, s3, s3

// SCALE turns sixteen sums into float32 and stores them at at(DI): column parameters
// at at(R13), row scale in Z28, row low in Z29.
#define SCALE(at, s) \
	VCVTDQ2PS   s, s                    \
	VMULPS      at(R13), s, s           \
	VMOVUPS     (512+at)(R13), Z30      \
	VFMADD231PS (256+at)(R13), Z29, Z30 \
	VFMADD213PS Z30, Z28, s             \
	VMOVUPS     s, at(DI)

// STORE finishes the row at DI and moves to the next.
#define STORE(s0, s1, s2, s3) \
	VBROADCASTSS (R12), Z28  \
	VBROADCASTSS 4(R12), Z29 \
	SCALE(0, s0)             \
	SCALE(64, s1)            \
	SCALE(128, s2)           \
	SCALE(192, s3)           \
	ADDQ         $8, R12     \
	ADDQ         BX, DI

// REWIND moves from the end of n rows of a to the beginning of the row after them.
#define REWIND(n) \
	MOVQ   steps+48(FP), AX \
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
	MOVQ panel+40(FP), R8 \
	MOVQ rows+56(FP), R12 \
	MOVQ cols+64(FP), R13 \
	MOVQ n+72(FP), R10    \
	LEAQ (R8)(R8*2), R11

// func gemmTilesAVX512(dst *float32, ldd int, a *uint8, lda int, w *byte, panel, steps int, rows *rowScale, cols *float32, n int)
//
// Tiles of six rows, then four, two and one. R10 counts the rows that are left.
TEXT ·gemmTilesAVX512(SB), NOSPLIT, $0-80
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
	MOVQ steps+48(FP), AX
	LEAQ (CX)(CX*2), R9
	ADDQ SI, R9
	CLEAR(Z0, Z1, Z2, Z3)
	CLEAR(Z4, Z5, Z6, Z7)
	CLEAR(Z8, Z9, Z10, Z11)
	CLEAR(Z12, Z13, Z14, Z15)
	CLEAR(Z16, Z17, Z18, Z19)
	CLEAR(Z20, Z21, Z22, Z23)

sixLoop:
	WEIGHTS
	ROW((SI), Z0, Z1, Z2, Z3)
	ROW((SI)(CX*1), Z4, Z5, Z6, Z7)
	ROW((SI)(CX*2), Z8, Z9, Z10, Z11)
	ROW((R9), Z12, Z13, Z14, Z15)
	ROW((R9)(CX*1), Z16, Z17, Z18, Z19)
	ROW((R9)(CX*2), Z20, Z21, Z22, Z23)
	ADDQ $64, DX
	ADDQ $4, SI
	ADDQ $4, R9
	DECQ AX
	JNZ  sixLoop

	STORE(Z0, Z1, Z2, Z3)
	STORE(Z4, Z5, Z6, Z7)
	STORE(Z8, Z9, Z10, Z11)
	STORE(Z12, Z13, Z14, Z15)
	STORE(Z16, Z17, Z18, Z19)
	STORE(Z20, Z21, Z22, Z23)
	REWIND(6)
	JMP next

four:
	MOVQ w+32(FP), DX
	MOVQ steps+48(FP), AX
	LEAQ (CX)(CX*2), R9
	ADDQ SI, R9
	CLEAR(Z0, Z1, Z2, Z3)
	CLEAR(Z4, Z5, Z6, Z7)
	CLEAR(Z8, Z9, Z10, Z11)
	CLEAR(Z12, Z13, Z14, Z15)

fourLoop:
	WEIGHTS
	ROW((SI), Z0, Z1, Z2, Z3)
	ROW((SI)(CX*1), Z4, Z5, Z6, Z7)
	ROW((SI)(CX*2), Z8, Z9, Z10, Z11)
	ROW((R9), Z12, Z13, Z14, Z15)
	ADDQ $64, DX
	ADDQ $4, SI
	ADDQ $4, R9
	DECQ AX
	JNZ  fourLoop

	STORE(Z0, Z1, Z2, Z3)
	STORE(Z4, Z5, Z6, Z7)
	STORE(Z8, Z9, Z10, Z11)
	STORE(Z12, Z13, Z14, Z15)
	REWIND(4)
	JMP next

two:
	MOVQ w+32(FP), DX
	MOVQ steps+48(FP), AX
	CLEAR(Z0, Z1, Z2, Z3)
	CLEAR(Z4, Z5, Z6, Z7)

twoLoop:
	WEIGHTS
	ROW((SI), Z0, Z1, Z2, Z3)
	ROW((SI)(CX*1), Z4, Z5, Z6, Z7)
	ADDQ $64, DX
	ADDQ $4, SI
	DECQ AX
	JNZ  twoLoop

	STORE(Z0, Z1, Z2, Z3)
	STORE(Z4, Z5, Z6, Z7)
	REWIND(2)
	JMP next

one:
	MOVQ w+32(FP), DX
	MOVQ steps+48(FP), AX
	CLEAR(Z0, Z1, Z2, Z3)

oneLoop:
	WEIGHTS
	ROW((SI), Z0, Z1, Z2, Z3)
	ADDQ $64, DX
	ADDQ $4, SI
	DECQ AX
	JNZ  oneLoop

	STORE(Z0, Z1, Z2, Z3)
	REWIND(1)
	JMP next
