#include "textflag.h"

// func addScaledAVX2(dst *float32, row *uint8, scale float32, n int)
//
// Products are rounded before they are added (no FMA), as in Go.
TEXT ·addScaledAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         row+8(FP), SI
	VBROADCASTSS scale+16(FP), Y0
	MOVQ         n+24(FP), CX

loop:
	VPMOVSXBD (SI), Y1
	VPMOVSXBD 8(SI), Y2
	VCVTDQ2PS Y1, Y1
	VCVTDQ2PS Y2, Y2
	VMULPS    Y0, Y1, Y1
	VMULPS    Y0, Y2, Y2
	VADDPS    (DI), Y1, Y1
	VADDPS    32(DI), Y2, Y2
	VMOVUPS   Y1, (DI)
	VMOVUPS   Y2, 32(DI)
	ADDQ      $16, SI
	ADDQ      $64, DI
	SUBQ      $16, CX
	JGT       loop
	VZEROUPPER
	RET
