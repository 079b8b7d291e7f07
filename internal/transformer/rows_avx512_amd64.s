#include "textflag.h"

// FOLD combines the lanes of Z0 by op (VADDPS, VMINPS or VMAXPS) and leaves the result in all
// of them. Z1 is overwritten.
#define FOLD(op) \
	VEXTRACTF64X4 $1, Z0, Y1    \
	op            Y1, Y0, Y0    \
	VEXTRACTF128  $1, Y0, X1    \
	op            X1, X0, X0    \
	VPERMILPS     $0x4E, X0, X1 \
	op            X1, X0, X0    \
	VPERMILPS     $0xB1, X0, X1 \
	op            X1, X0, X0    \
	VBROADCASTSS  X0, Z0

// func geluAVX512(v *float32, n int, p *gelu)
TEXT ·geluAVX512(SB), NOSPLIT, $0-24
	MOVQ         v+0(FP), SI
	MOVQ         n+8(FP), CX
	MOVQ         p+16(FP), DX
	VBROADCASTSS (DX), Z31 // clip
	VPXORD       Z30, Z30, Z30
	VSUBPS       Z31, Z30, Z30 // -clip
	MOVL         $0x3F000000, AX // 1/2
	VPBROADCASTD AX, Z29
	VBROADCASTSS 4(DX), Z16
	VBROADCASTSS 8(DX), Z17
	VBROADCASTSS 12(DX), Z18
	VBROADCASTSS 16(DX), Z19
	VBROADCASTSS 20(DX), Z20
	VBROADCASTSS 24(DX), Z21
	VBROADCASTSS 28(DX), Z22
	VBROADCASTSS 32(DX), Z23
	VBROADCASTSS 36(DX), Z24

loop:
	VMOVUPS     (SI), Z0
	VMINPS      Z31, Z0, Z1
	VMAXPS      Z30, Z1, Z1
	VMULPS      Z1, Z1, Z2
	VMOVAPS     Z24, Z3
	VFMADD213PS Z23, Z2, Z3
	VFMADD213PS Z22, Z2, Z3
	VFMADD213PS Z21, Z2, Z3
	VFMADD213PS Z20, Z2, Z3
	VFMADD213PS Z19, Z2, Z3
	VFMADD213PS Z18, Z2, Z3
	VFMADD213PS Z17, Z2, Z3
	VFMADD213PS Z16, Z2, Z3
	VFMADD213PS Z29, Z1, Z3
	VMULPS      Z0, Z3, Z3
	VMOVUPS     Z3, (SI)
	ADDQ        $64, SI
	SUBQ        $16, CX
	JNZ         loop
	VZEROUPPER
	RET

// func spanAVX512(src *float32, n int) (lo, hi float32)
TEXT ·spanAVX512(SB), NOSPLIT, $0-24
	MOVQ    src+0(FP), SI
	MOVQ    n+8(FP), CX
	VMOVUPS (SI), Z0
	VMOVAPS Z0, Z2

loop:
	VMINPS  (SI), Z0, Z0
	VMAXPS  (SI), Z2, Z2
	ADDQ    $64, SI
	SUBQ    $16, CX
	JNZ     loop
	FOLD(VMINPS)
	VMOVSS  X0, lo+16(FP)
	VMOVAPS Z2, Z0
	FOLD(VMAXPS)
	VMOVSS  X0, hi+20(FP)
	VZEROUPPER
	RET

// func bytesAVX512(dst *uint8, src *float32, n int, low, inv float32)
TEXT ·bytesAVX512(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS low+24(FP), Z4
	VBROADCASTSS inv+28(FP), Z5

loop:
	VMOVUPS   (SI), Z0
	VSUBPS    Z4, Z0, Z0
	VMULPS    Z5, Z0, Z0
	VCVTPS2DQ Z0, Z0
	VPMOVUSDB Z0, (DI)
	ADDQ      $64, SI
	ADDQ      $16, DI
	SUBQ      $16, CX
	JNZ       loop
	VZEROUPPER
	RET

// func normAVX512(x, res, gain, bias *float32, n int, eps float32)
TEXT ·normAVX512(SB), NOSPLIT, $0-44
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
	VMOVUPS      (BX), Z2
	VADDPS       (SI), Z2, Z2
	VMOVUPS      Z2, (BX)
	VADDPS       Z2, Z0, Z0
	ADDQ         $64, BX
	ADDQ         $64, SI
	CMPQ         BX, DX
	JLT          add
	FOLD(VADDPS)
	VBROADCASTSS X7, Z7
	VDIVPS       Z7, Z0, Z4 // mean
	MOVQ         DI, BX
	VXORPS       X0, X0, X0

square:
	VMOVUPS      (BX), Z2
	VSUBPS       Z4, Z2, Z2
	VFMADD231PS  Z2, Z2, Z0
	ADDQ         $64, BX
	CMPQ         BX, DX
	JLT          square
	FOLD(VADDPS)
	VDIVSS       X7, X0, X0
	VADDSS       eps+40(FP), X0, X0
	VSQRTSS      X0, X0, X0
	MOVL         $0x3F800000, AX // 1
	VMOVD        AX, X1
	VDIVSS       X0, X1, X1
	VBROADCASTSS X1, Z5
	MOVQ         DI, BX

scale:
	VMOVUPS     (BX), Z2
	VSUBPS      Z4, Z2, Z2
	VMULPS      Z5, Z2, Z2
	VMOVUPS     (R9), Z3
	VFMADD231PS (R8), Z2, Z3
	VMOVUPS     Z3, (BX)
	ADDQ        $64, BX
	ADDQ        $64, R8
	ADDQ        $64, R9
	CMPQ        BX, DX
	JLT         scale
	VZEROUPPER
	RET

// EXP turns Z2 into e^Z2, as exp in Go. Constants in Z16 to Z25; Z3 to Z5 are overwritten.
#define EXP \
	VMAXPS       Z18, Z2, Z2 \
	VMULPS       Z16, Z2, Z3 \
	VRNDSCALEPS  $8, Z3, Z3  \
	VFNMADD231PS Z17, Z3, Z2 \
	VMOVAPS      Z20, Z4     \
	VFMADD213PS  Z21, Z2, Z4 \
	VFMADD213PS  Z22, Z2, Z4 \
	VFMADD213PS  Z23, Z2, Z4 \
	VFMADD213PS  Z24, Z2, Z4 \
	VFMADD213PS  Z25, Z2, Z4 \
	VMULPS       Z2, Z2, Z5  \
	VFMADD213PS  Z2, Z5, Z4  \
	VADDPS       Z19, Z4, Z4 \
	VSCALEFPS    Z3, Z4, Z2

// func expRowsAVX512(s *float32, ld, rows, n int, consts *[10]float32)
//
// The last n mod 16 values of a row are done under the mask K1.
TEXT ·expRowsAVX512(SB), NOSPLIT, $0-40
	MOVQ         s+0(FP), DI
	MOVQ         ld+8(FP), R8 // bytes
	MOVQ         rows+16(FP), R9
	MOVQ         n+24(FP), BX
	MOVQ         consts+32(FP), DX
	VBROADCASTSS (DX), Z16
	VBROADCASTSS 4(DX), Z17
	VBROADCASTSS 8(DX), Z18
	VBROADCASTSS 12(DX), Z19
	VBROADCASTSS 16(DX), Z20
	VBROADCASTSS 20(DX), Z21
	VBROADCASTSS 24(DX), Z22
	VBROADCASTSS 28(DX), Z23
	VBROADCASTSS 32(DX), Z24
	VBROADCASTSS 36(DX), Z25
	MOVQ         BX, CX
	ANDQ         $15, CX
	MOVQ         $1, AX
	SHLQ         CX, AX
	DECQ         AX
	KMOVW        AX, K1
	ANDQ         $~15, BX // whole registers
	SHLQ         $2, BX
	ADDQ         DI, BX // where they end

row:
	VBROADCASTSS (DI), Z0
	MOVQ         DI, SI
	CMPQ         SI, BX
	JGE          topTail

top:
	VMAXPS (SI), Z0, Z0
	ADDQ   $64, SI
	CMPQ   SI, BX
	JLT    top

topTail:
	VMAXPS  (SI), Z0, K1, Z0 // none where n is a multiple of 16
	FOLD(VMAXPS)
	VMOVAPS Z0, Z6
	VPXORD  Z0, Z0, Z0
	MOVQ    DI, SI
	CMPQ    SI, BX
	JGE     expTail

expLoop:
	VMOVUPS (SI), Z2
	VSUBPS  Z6, Z2, Z2
	EXP
	VMOVUPS Z2, (SI)
	VADDPS  Z2, Z0, Z0
	ADDQ    $64, SI
	CMPQ    SI, BX
	JLT     expLoop

expTail:
	VMOVUPS.Z (SI), K1, Z2
	VSUBPS    Z6, Z2, Z2
	EXP
	VMOVUPS   Z2, K1, (SI)
	VADDPS    Z2, Z0, K1, Z0
	FOLD(VADDPS)
	VDIVPS    Z0, Z19, Z0
	MOVQ      DI, SI
	CMPQ      SI, BX
	JGE       scaleTail

scaleLoop:
	VMULPS  (SI), Z0, Z2
	VMOVUPS Z2, (SI)
	ADDQ    $64, SI
	CMPQ    SI, BX
	JLT     scaleLoop

scaleTail:
	VMOVUPS.Z (SI), K1, Z2
	VMULPS    Z0, Z2, Z2
	VMOVUPS   Z2, K1, (SI)
	ADDQ      R8, DI
	ADDQ      R8, BX
	DECQ      R9
	JNZ       row
	VZEROUPPER
	RET
