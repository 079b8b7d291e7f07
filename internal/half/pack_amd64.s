#include "textflag.h"

// func packF16C(dst *uint16, src *float32, n int) (same int)
TEXT ·packF16C(SB), NOSPLIT, $0-32
	MOVQ     dst+0(FP), DI
	MOVQ     src+8(FP), SI
	MOVQ     n+16(FP), CX
	VPCMPEQD Y3, Y3, Y3

loop:
	VMOVUPS   (SI), Y0
	VCVTPS2PH $0, Y0, X1
	VMOVDQU   X1, (DI)
	VCVTPH2PS X1, Y2
	VPCMPEQD  Y0, Y2, Y2
	VPAND     Y2, Y3, Y3
	ADDQ      $32, SI
	ADDQ      $16, DI
	SUBQ      $8, CX
	JGT       loop
	VMOVMSKPS Y3, AX
	VZEROUPPER
	XORL      BX, BX
	CMPL      AX, $0xFF
	SETEQ     BX
	MOVQ      BX, same+24(FP)
	RET

// func roundF16C(dst, src *float32, n int) (top uint32)
TEXT ·roundF16C(SB), NOSPLIT, $0-28
	MOVQ     dst+0(FP), DI
	MOVQ     src+8(FP), SI
	MOVQ     n+16(FP), CX
	VPXOR    Y3, Y3, Y3
	VPCMPEQD Y4, Y4, Y4
	VPSRLD   $1, Y4, Y4

loop:
	VMOVUPS   (SI), Y0
	VCVTPS2PH $0, Y0, X1
	VCVTPH2PS X1, Y2
	VPAND     Y0, Y4, Y0
	VPMAXUD   Y0, Y3, Y3
	VMOVUPS   Y2, (DI)
	ADDQ      $32, SI
	ADDQ      $32, DI
	SUBQ      $8, CX
	JGT       loop

	VEXTRACTI128 $1, Y3, X0
	VPMAXUD      X0, X3, X3
	VPSHUFD      $0x4E, X3, X0
	VPMAXUD      X0, X3, X3
	VPSHUFD      $0xB1, X3, X0
	VPMAXUD      X0, X3, X3
	VMOVD        X3, AX
	MOVL         AX, top+24(FP)
	VZEROUPPER
	RET
