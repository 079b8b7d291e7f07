#include "textflag.h"

// The float32 matrix product. A tile is some rows times one or two registers of
// columns; every value of a row is multiplied with a register of a row of b.

#define MATARGS \
	MOVQ dst+0(FP), DI  \
	MOVQ ldd+8(FP), BX  \
	MOVQ a+16(FP), SI   \
	MOVQ lda+24(FP), CX \
	MOVQ ldb+40(FP), R8 \
	MOVQ m+56(FP), R10

// REWIND moves from the end of n rows of a to the beginning of the row after them.
#define REWIND(n) \
	MOVQ   k+48(FP), AX \
	SHLQ   $2, AX       \
	SUBQ   AX, SI       \
	IMUL3Q $n, CX, AX   \
	ADDQ   AX, SI       \
	SUBQ   $n, R10

#define CLEAR1(s0) VXORPS s0, s0, s0

#define CLEAR2(s0, s1) \
	VXORPS s0, s0, s0 \
	VXORPS s1, s1, s1

#define LOADB1 VMOVUPS (DX), Z24

#define LOADB2 \
	VMOVUPS (DX), Z24 \
	VMOVUPS 64(DX), Z25

#define STORE1(s0) \
	VMOVUPS s0, (DI) \
	ADDQ    BX, DI

#define STORE2(s0, s1) \
	VMOVUPS s0, (DI)   \
	VMOVUPS s1, 64(DI) \
	ADDQ    BX, DI

// MATROW1 and MATROW2 add the product of the value at addr with one or two registers of b.
#define MATROW1(addr, s0) \
	VBROADCASTSS addr, Z28 \
	VFMADD231PS  Z24, Z28, s0

#define MATROW2(addr, s0, s1) \
	VBROADCASTSS addr, Z28    \
	VFMADD231PS  Z24, Z28, s0 \
	VFMADD231PS  Z25, Z28, s1

// func matmul32AVX512(dst *float32, ldd int, a *float32, lda int, b *float32, ldb, k, m int)
//
// Tiles of six rows, then four, two and one. R10 counts the rows that are left.
TEXT ·matmul32AVX512(SB), NOSPLIT, $0-64
	MATARGS

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
	MOVQ b+32(FP), DX
	MOVQ k+48(FP), AX
	LEAQ (CX)(CX*2), R9
	ADDQ SI, R9
	CLEAR2(Z0, Z1)
	CLEAR2(Z2, Z3)
	CLEAR2(Z4, Z5)
	CLEAR2(Z6, Z7)
	CLEAR2(Z8, Z9)
	CLEAR2(Z10, Z11)

sixLoop:
	LOADB2
	MATROW2((SI), Z0, Z1)
	MATROW2((SI)(CX*1), Z2, Z3)
	MATROW2((SI)(CX*2), Z4, Z5)
	MATROW2((R9), Z6, Z7)
	MATROW2((R9)(CX*1), Z8, Z9)
	MATROW2((R9)(CX*2), Z10, Z11)
	ADDQ R8, DX
	ADDQ $4, SI
	ADDQ $4, R9
	DECQ AX
	JNZ  sixLoop

	STORE2(Z0, Z1)
	STORE2(Z2, Z3)
	STORE2(Z4, Z5)
	STORE2(Z6, Z7)
	STORE2(Z8, Z9)
	STORE2(Z10, Z11)
	REWIND(6)
	JMP next

four:
	MOVQ b+32(FP), DX
	MOVQ k+48(FP), AX
	LEAQ (CX)(CX*2), R9
	ADDQ SI, R9
	CLEAR2(Z0, Z1)
	CLEAR2(Z2, Z3)
	CLEAR2(Z4, Z5)
	CLEAR2(Z6, Z7)

fourLoop:
	LOADB2
	MATROW2((SI), Z0, Z1)
	MATROW2((SI)(CX*1), Z2, Z3)
	MATROW2((SI)(CX*2), Z4, Z5)
	MATROW2((R9), Z6, Z7)
	ADDQ R8, DX
	ADDQ $4, SI
	ADDQ $4, R9
	DECQ AX
	JNZ  fourLoop

	STORE2(Z0, Z1)
	STORE2(Z2, Z3)
	STORE2(Z4, Z5)
	STORE2(Z6, Z7)
	REWIND(4)
	JMP next

two:
	MOVQ b+32(FP), DX
	MOVQ k+48(FP), AX
	CLEAR2(Z0, Z1)
	CLEAR2(Z2, Z3)

twoLoop:
	LOADB2
	MATROW2((SI), Z0, Z1)
	MATROW2((SI)(CX*1), Z2, Z3)
	ADDQ R8, DX
	ADDQ $4, SI
	DECQ AX
	JNZ  twoLoop

	STORE2(Z0, Z1)
	STORE2(Z2, Z3)
	REWIND(2)
	JMP next

one:
	MOVQ b+32(FP), DX
	MOVQ k+48(FP), AX
	CLEAR2(Z0, Z1)

oneLoop:
	LOADB2
	MATROW2((SI), Z0, Z1)
	ADDQ R8, DX
	ADDQ $4, SI
	DECQ AX
	JNZ  oneLoop

	STORE2(Z0, Z1)
	REWIND(1)
	JMP next

// func matmul16AVX512(dst *float32, ldd int, a *float32, lda int, b *float32, ldb, k, m int)
//
// Tiles of six rows, then four, two and one. R10 counts the rows that are left.
TEXT ·matmul16AVX512(SB), NOSPLIT, $0-64
	MATARGS

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
	MOVQ b+32(FP), DX
	MOVQ k+48(FP), AX
	LEAQ (CX)(CX*2), R9
	ADDQ SI, R9
	CLEAR1(Z0)
	CLEAR1(Z1)
	CLEAR1(Z2)
	CLEAR1(Z3)
	CLEAR1(Z4)
	CLEAR1(Z5)

sixLoop:
	LOADB1
	MATROW1((SI), Z0)
	MATROW1((SI)(CX*1), Z1)
	MATROW1((SI)(CX*2), Z2)
	MATROW1((R9), Z3)
	MATROW1((R9)(CX*1), Z4)
	MATROW1((R9)(CX*2), Z5)
	ADDQ R8, DX
	ADDQ $4, SI
	ADDQ $4, R9
	DECQ AX
	JNZ  sixLoop

	STORE1(Z0)
	STORE1(Z1)
	STORE1(Z2)
	STORE1(Z3)
	STORE1(Z4)
	STORE1(Z5)
	REWIND(6)
	JMP next

four:
	MOVQ b+32(FP), DX
	MOVQ k+48(FP), AX
	LEAQ (CX)(CX*2), R9
	ADDQ SI, R9
	CLEAR1(Z0)
	CLEAR1(Z1)
	CLEAR1(Z2)
	CLEAR1(Z3)

fourLoop:
	LOADB1
	MATROW1((SI), Z0)
	MATROW1((SI)(CX*1), Z1)
	MATROW1((SI)(CX*2), Z2)
	MATROW1((R9), Z3)
	ADDQ R8, DX
	ADDQ $4, SI
	ADDQ $4, R9
	DECQ AX
	JNZ  fourLoop

	STORE1(Z0)
	STORE1(Z1)
	STORE1(Z2)
	STORE1(Z3)
	REWIND(4)
	JMP next

two:
	MOVQ b+32(FP), DX
	MOVQ k+48(FP), AX
	CLEAR1(Z0)
	CLEAR1(Z1)

twoLoop:
	LOADB1
	MATROW1((SI), Z0)
	MATROW1((SI)(CX*1), Z1)
	ADDQ R8, DX
	ADDQ $4, SI
	DECQ AX
	JNZ  twoLoop

	STORE1(Z0)
	STORE1(Z1)
	REWIND(2)
	JMP next

one:
	MOVQ b+32(FP), DX
	MOVQ k+48(FP), AX
	CLEAR1(Z0)

oneLoop:
	LOADB1
	MATROW1((SI), Z0)
	ADDQ R8, DX
	ADDQ $4, SI
	DECQ AX
	JNZ  oneLoop

	STORE1(Z0)
	REWIND(1)
	JMP next
