#include "textflag.h"

// Products are rounded before they are added (no FMA), and lanes are added in the
// order that DotF32 documents, so that every machine returns the same bits.

// SUM8 adds the eight lanes of y (x is its low half): j+4, then j+2, then j+1.
// It uses X15.
#define SUM8(x, y) \
	VEXTRACTF128 $1, y, X15     \
	VADDPS       X15, x, x      \
	VMOVHLPS     x, x, X15      \
	VADDPS       X15, x, x      \
	VMOVSHDUP    x, X15         \
	VADDSS       X15, x, x

// func dotF32AVX512(dst *float32, rows *float32, q *float32, stride, n int)
TEXT ·dotF32AVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ q+16(FP), DX
	MOVQ stride+24(FP), CX
	MOVQ n+32(FP), BX
	SHLQ $2, CX // bytes a row
	LEAQ (CX)(CX*2), R9

four:
	CMPQ   BX, $4
	JLT    one
	VXORPS Z0, Z0, Z0
	VXORPS Z1, Z1, Z1
	VXORPS Z2, Z2, Z2
	VXORPS Z3, Z3, Z3
	MOVQ   SI, R8
	XORQ   AX, AX

fourLoop:
	VMOVUPS (DX)(AX*1), Z8
	VMULPS  (R8), Z8, Z4
	VMULPS  (R8)(CX*1), Z8, Z5
	VMULPS  (R8)(CX*2), Z8, Z6
	VMULPS  (R8)(R9*1), Z8, Z7
	VADDPS  Z4, Z0, Z0
	VADDPS  Z5, Z1, Z1
	VADDPS  Z6, Z2, Z2
	VADDPS  Z7, Z3, Z3
	ADDQ    $64, R8
	ADDQ    $64, AX
	CMPQ    AX, CX
	JLT     fourLoop

	VEXTRACTF64X4 $1, Z0, Y4
	VEXTRACTF64X4 $1, Z1, Y5
	VEXTRACTF64X4 $1, Z2, Y6
	VEXTRACTF64X4 $1, Z3, Y7
	VADDPS        Y4, Y0, Y0
	VADDPS        Y5, Y1, Y1
	VADDPS        Y6, Y2, Y2
	VADDPS        Y7, Y3, Y3
	SUM8(X0, Y0)
	SUM8(X1, Y1)
	SUM8(X2, Y2)
	SUM8(X3, Y3)
	VMOVSS        X0, (DI)
	VMOVSS        X1, 4(DI)
	VMOVSS        X2, 8(DI)
	VMOVSS        X3, 12(DI)
	ADDQ          $16, DI
	LEAQ          (SI)(CX*4), SI
	SUBQ          $4, BX
	JMP           four

one:
	TESTQ  BX, BX
	JLE    done
	VXORPS Z0, Z0, Z0
	XORQ   AX, AX

oneLoop:
	VMOVUPS (DX)(AX*1), Z8
	VMULPS  (SI)(AX*1), Z8, Z4
	VADDPS  Z4, Z0, Z0
	ADDQ    $64, AX
	CMPQ    AX, CX
	JLT     oneLoop

	VEXTRACTF64X4 $1, Z0, Y4
	VADDPS        Y4, Y0, Y0
	SUM8(X0, Y0)
	VMOVSS        X0, (DI)
	ADDQ          $4, DI
	ADDQ          CX, SI
	DECQ          BX
	JMP           one

done:
	VZEROUPPER
	RET

// func dotF32AVX2(dst *float32, rows *float32, q *float32, stride, n int)
TEXT ·dotF32AVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ q+16(FP), DX
	MOVQ stride+24(FP), CX
	MOVQ n+32(FP), BX
	SHLQ $2, CX // bytes a row

two:
	CMPQ   BX, $2
	JLT    one
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	MOVQ   SI, R8
	LEAQ   (SI)(CX*1), R9
	XORQ   AX, AX

twoLoop:
	VMOVUPS (DX)(AX*1), Y8
	VMOVUPS 32(DX)(AX*1), Y9
	VMULPS  (R8)(AX*1), Y8, Y4
	VMULPS  32(R8)(AX*1), Y9, Y5
	VMULPS  (R9)(AX*1), Y8, Y6
	VMULPS  32(R9)(AX*1), Y9, Y7
	VADDPS  Y4, Y0, Y0
	VADDPS  Y5, Y1, Y1
	VADDPS  Y6, Y2, Y2
	VADDPS  Y7, Y3, Y3
	ADDQ    $64, AX
	CMPQ    AX, CX
	JLT     twoLoop

	VADDPS Y1, Y0, Y0
	VADDPS Y3, Y2, Y2
	SUM8(X0, Y0)
	SUM8(X2, Y2)
	VMOVSS X0, (DI)
	VMOVSS X2, 4(DI)
	ADDQ   $8, DI
	LEAQ   (SI)(CX*2), SI
	SUBQ   $2, BX
	JMP    two

one:
	TESTQ  BX, BX
	JLE    done
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	XORQ   AX, AX

oneLoop:
	VMOVUPS (DX)(AX*1), Y8
	VMOVUPS 32(DX)(AX*1), Y9
	VMULPS  (SI)(AX*1), Y8, Y4
	VMULPS  32(SI)(AX*1), Y9, Y5
	VADDPS  Y4, Y0, Y0
	VADDPS  Y5, Y1, Y1
	ADDQ    $64, AX
	CMPQ    AX, CX
	JLT     oneLoop

	VADDPS Y1, Y0, Y0
	SUM8(X0, Y0)
	VMOVSS X0, (DI)

done:
	VZEROUPPER
	RET
