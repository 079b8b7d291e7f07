#include "textflag.h"

// func twelvesAVX2(dst *float32, row *uint8, rest *uint8, step float32, n int)
TEXT ·twelvesAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         row+8(FP), SI
	MOVQ         rest+16(FP), DX
	VBROADCASTSS step+24(FP), Y0
	MOVQ         n+32(FP), CX
	MOVL         $15, AX
	VMOVD        AX, X1
	VPBROADCASTD X1, Y1            // of the lower half of a byte
	MOVL         $2056, AX         // Bias<<4 + 8
	VMOVD        AX, X2
	VPBROADCASTD X2, Y2

block:
	MOVQ $4, BX                    // times 8 bytes of the rest

loop:
	VPMOVZXBD (DX), Y3
	VPMOVZXBD (SI), Y4
	VPMOVZXBD 32(SI), Y5
	VPSRLD    $4, Y3, Y6
	VPAND     Y1, Y3, Y3
	VPSLLD    $4, Y4, Y4
	VPSLLD    $4, Y5, Y5
	VPADDD    Y3, Y4, Y4
	VPADDD    Y6, Y5, Y5
	VPSUBD    Y2, Y4, Y4
	VPSUBD    Y2, Y5, Y5
	VCVTDQ2PS Y4, Y4
	VCVTDQ2PS Y5, Y5
	VMULPS    Y0, Y4, Y4
	VMULPS    Y0, Y5, Y5
	VMOVUPS   Y4, (DI)
	VMOVUPS   Y5, 128(DI)
	ADDQ      $8, DX
	ADDQ      $8, SI
	ADDQ      $32, DI
	DECQ      BX
	JGT       loop
	ADDQ      $32, SI
	ADDQ      $128, DI
	SUBQ      $64, CX
	JGT       block
	VZEROUPPER
	RET
