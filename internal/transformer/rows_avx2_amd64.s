#include "textflag.h"

// FOLD combines the lanes of Y0 by op (VADDPS, VMINPS or VMAXPS) and leaves the result in all
// of them. Y1 is overwritten.
#define FOLD(op) \
	VEXTRACTF128 $1, Y0, X1    \
	op           X1, X0, X0    \
	VPERMILPS    $0x4E, X0, X1 \
	op           X1, X0, X0    \
	VPERMILPS    $0xB1, X0, X1 \
	op           X1, X0, X0    \
	VBROADCASTSS X0, Y0

// func geluAVX2(v *float32, n int, p *gelu)
TEXT ·geluAVX2(SB), NOSPLIT, $0-24
	MOVQ         v+0(FP), SI
	MOVQ         n+8(FP), CX
	MOVQ         p+16(FP), DX
	VBROADCASTSS (DX), Y15 // clip
	VXORPS       Y14, Y14, Y14
	VSUBPS       Y15, Y14, Y14 // -clip
	MOVL         $0x3F000000, AX // 1/2
	VMOVD        AX, X13
	VPBROADCASTD X13, Y13
	VBROADCASTSS 4(DX), Y4
	VBROADCASTSS 8(DX), Y5
	VBROADCASTSS 12(DX), Y6
	VBROADCASTSS 16(DX), Y7
	VBROADCASTSS 20(DX), Y8
	VBROADCASTSS 24(DX), Y9
	VBROADCASTSS 28(DX), Y10
	VBROADCASTSS 32(DX), Y11
	VBROADCASTSS 36(DX), Y12

loop:
	VMOVUPS     (SI), Y0
	VMINPS      Y15, Y0, Y1
	VMAXPS      Y14, Y1, Y1
	VMULPS      Y1, Y1, Y2
	VMOVAPS     Y12, Y3
	VFMADD213PS Y11, Y2, Y3
	VFMADD213PS Y10, Y2, Y3
	VFMADD213PS Y9, Y2, Y3
	VFMADD213PS Y8, Y2, Y3
	VFMADD213PS Y7, Y2, Y3
	VFMADD213PS Y6, Y2, Y3
	VFMADD213PS Y5, Y2, Y3
	VFMADD213PS Y4, Y2, Y3
	VFMADD213PS Y13, Y1, Y3
	VMULPS      Y0, Y3, Y3
	VMOVUPS     Y3, (SI)
	ADDQ        $32, SI
	SUBQ        $8, CX
	JNZ         loop
	VZEROUPPER
	RET

// func spanAVX2(src *float32, n int) (lo, hi float32)
TEXT ·spanAVX2(SB), NOSPLIT, $0-24
	MOVQ    src+0(FP), SI
	MOVQ    n+8(FP), CX
	VMOVUPS (SI), Y0
	VMOVAPS Y0, Y2

loop:
	VMINPS  (SI), Y0, Y0
	VMAXPS  (SI), Y2, Y2
	ADDQ    $32, SI
	SUBQ    $8, CX
	JNZ     loop
	FOLD(VMINPS)
	VMOVSS  X0, lo+16(FP)
	VMOVAPS Y2, Y0
	FOLD(VMAXPS)
	VMOVSS  X0, hi+20(FP)
	VZEROUPPER
	RET

// func bytesAVX2(dst *uint8, src *float32, n int, low, inv float32)
TEXT ·bytesAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS low+24(FP), Y4
	VBROADCASTSS inv+28(FP), Y5

loop:
	VMOVUPS   (SI), Y0
	VMOVUPS   32(SI), Y1
	VSUBPS    Y4, Y0, Y0
	VSUBPS    Y4, Y1, Y1
	VMULPS    Y5, Y0, Y0
	VMULPS    Y5, Y1, Y1
	VCVTPS2DQ Y0, Y0
	VCVTPS2DQ Y1, Y1
	VPACKUSDW Y1, Y0, Y0 // quarters 0 2 1 3
	VPERMQ    $0xD8, Y0, Y0
	VMOVDQU   Y0, (DI)
	ADDQ      $64, SI
	ADDQ      $32, DI
	SUBQ      $16, CX
	JNZ       loop
	VZEROUPPER
	RET

// func normAVX2(x, res, gain, bias *float32, n int, eps float32)
TEXT ·normAVX2(SB), NOSPLIT, $0-44
	MOVQ       x+0(FP), DI
	MOVQ       res+8(FP), SI
	MOVQ       gain+16(FP), R8
	MOVQ       bias+24(FP), R9
	MOVQ       n+32(FP), CX
	VCVTSI2SSQ CX, X7, X7
	LEAQ       (DI)(CX*4), DX // end of x
	MOVQ       DI, BX
	VXORPS     X0, X0, X0

add:
	VMOVUPS      (BX), Y2
	VADDPS       (SI), Y2, Y2
	VMOVUPS      Y2, (BX)
	VADDPS       Y2, Y0, Y0
	ADDQ         $32, BX
	ADDQ         $32, SI
	CMPQ         BX, DX
	JLT          add
	FOLD(VADDPS)
	VBROADCASTSS X7, Y7
	VDIVPS       Y7, Y0, Y4 // mean
	MOVQ         DI, BX
	VXORPS       X0, X0, X0

square:
	VMOVUPS      (BX), Y2
	VSUBPS       Y4, Y2, Y2
	VFMADD231PS  Y2, Y2, Y0
	ADDQ         $32, BX
	CMPQ         BX, DX
	JLT          square
	FOLD(VADDPS)
	VDIVSS       X7, X0, X0
	VADDSS       eps+40(FP), X0, X0
	VSQRTSS      X0, X0, X0
	MOVL         $0x3F800000, AX // 1
	VMOVD        AX, X1
	VDIVSS       X0, X1, X1
	VBROADCASTSS X1, Y5
	MOVQ         DI, BX

scale:
	VMOVUPS     (BX), Y2
	VSUBPS      Y4, Y2, Y2
	VMULPS      Y5, Y2, Y2
	VMOVUPS     (R9), Y3
	VFMADD231PS (R8), Y2, Y3
	VMOVUPS     Y3, (BX)
	ADDQ        $32, BX
	ADDQ        $32, R8
	ADDQ        $32, R9
	CMPQ        BX, DX
	JLT         scale
	VZEROUPPER
	RET

// EXP turns Y2 into e^Y2, as exp in Go. Constants in Y6 to Y15; Y3 to Y5 are overwritten.
#define EXP \
	VMAXPS       Y8, Y2, Y2  \
	VMULPS       Y6, Y2, Y3  \
	VROUNDPS     $8, Y3, Y3  \
	VFNMADD231PS Y7, Y3, Y2  \
	VMOVAPS      Y10, Y4     \
	VFMADD213PS  Y11, Y2, Y4 \
	VFMADD213PS  Y12, Y2, Y4 \
	VFMADD213PS  Y13, Y2, Y4 \
	VFMADD213PS  Y14, Y2, Y4 \
	VFMADD213PS  Y15, Y2, Y4 \
	VMULPS       Y2, Y2, Y5  \
	VFMADD213PS  Y2, Y5, Y4  \
	VADDPS       Y9, Y4, Y4  \
	VCVTPS2DQ    Y3, Y3      \
	VPSLLD       $23, Y3, Y3 \
	VPADDD       Y3, Y4, Y2

// func expRowsAVX2(s *float32, ld, rows, n int, consts *[10]float32)
//
// n is a multiple of 8.
TEXT ·expRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ         s+0(FP), DI
	MOVQ         ld+8(FP), R8 // bytes
	MOVQ         rows+16(FP), R9
	MOVQ         n+24(FP), BX
	MOVQ         consts+32(FP), DX
	VBROADCASTSS (DX), Y6
	VBROADCASTSS 4(DX), Y7
	VBROADCASTSS 8(DX), Y8
	VBROADCASTSS 12(DX), Y9
	VBROADCASTSS 16(DX), Y10
	VBROADCASTSS 20(DX), Y11
	VBROADCASTSS 24(DX), Y12
	VBROADCASTSS 28(DX), Y13
	VBROADCASTSS 32(DX), Y14
	VBROADCASTSS 36(DX), Y15
	SHLQ         $2, BX
	ADDQ         DI, BX // where the row ends

row:
	VMOVUPS (DI), Y0
	MOVQ    DI, SI

top:
	VMAXPS (SI), Y0, Y0
	ADDQ   $32, SI
	CMPQ   SI, BX
	JLT    top
	FOLD(VMAXPS)
	VMOVAPS Y0, Y1 // the largest
	VXORPS  Y0, Y0, Y0
	MOVQ    DI, SI

expLoop:
	VMOVUPS (SI), Y2
	VSUBPS  Y1, Y2, Y2
	EXP
	VMOVUPS Y2, (SI)
	VADDPS  Y2, Y0, Y0
	ADDQ    $32, SI
	CMPQ    SI, BX
	JLT     expLoop
	FOLD(VADDPS)
	VDIVPS  Y0, Y9, Y0
	MOVQ    DI, SI

scaleLoop:
	VMULPS  (SI), Y0, Y2
	VMOVUPS Y2, (SI)
	ADDQ    $32, SI
	CMPQ    SI, BX
	JLT     scaleLoop
	ADDQ    R8, DI
	ADDQ    R8, BX
	DECQ    R9
	JNZ     row
	VZEROUPPER
	RET
