#include "textflag.h"

// Rows are taken four at a time, so that a chunk of the query is loaded once for
// four rows and four independent sums hide the latency of the multiply.

// func dotU8AVX512(dst *int32, rows *uint8, q *int8, stride, n int)
TEXT ·dotU8AVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ q+16(FP), DX
	MOVQ stride+24(FP), CX
	MOVQ n+32(FP), BX
	LEAQ (CX)(CX*2), R9 // 3 rows

four:
	CMPQ BX, $4
	JLT  one
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	MOVQ SI, R8
	XORQ AX, AX

fourLoop:
	VMOVDQU64 (DX)(AX*1), Z8
	VMOVDQU64 (R8), Z4
	VMOVDQU64 (R8)(CX*1), Z5
	VMOVDQU64 (R8)(CX*2), Z6
	VMOVDQU64 (R8)(R9*1), Z7
	VPDPBUSD  Z8, Z4, Z0
	VPDPBUSD  Z8, Z5, Z1
	VPDPBUSD  Z8, Z6, Z2
	VPDPBUSD  Z8, Z7, Z3
	ADDQ      $64, R8
	ADDQ      $64, AX
	CMPQ      AX, CX
	JLT       fourLoop

	VEXTRACTI64X4 $1, Z0, Y4
	VEXTRACTI64X4 $1, Z1, Y5
	VEXTRACTI64X4 $1, Z2, Y6
	VEXTRACTI64X4 $1, Z3, Y7
	VPADDD        Y4, Y0, Y0
	VPADDD        Y5, Y1, Y1
	VPADDD        Y6, Y2, Y2
	VPADDD        Y7, Y3, Y3
	VPHADDD       Y1, Y0, Y0
	VPHADDD       Y3, Y2, Y2
	VPHADDD       Y2, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDD        X1, X0, X0
	VMOVDQU       X0, (DI)
	ADDQ          $16, DI
	LEAQ          (SI)(CX*4), SI
	SUBQ          $4, BX
	JMP           four

one:
	TESTQ  BX, BX
	JLE    done
	VPXORD Z0, Z0, Z0
	XORQ   AX, AX

oneLoop:
	VMOVDQU64 (SI)(AX*1), Z4
	VPDPBUSD  (DX)(AX*1), Z4, Z0
	ADDQ      $64, AX
	CMPQ      AX, CX
	JLT       oneLoop

	VEXTRACTI64X4 $1, Z0, Y4
	VPADDD        Y4, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDD        X1, X0, X0
	VPHADDD       X0, X0, X0
	VPHADDD       X0, X0, X0
	VMOVD         X0, (DI)
	ADDQ          $4, DI
	ADDQ          CX, SI
	DECQ          BX
	JMP           one

done:
	VZEROUPPER
	RET

// MADDROW adds the products of 32 bytes at addr with the query's even (Y8) and
// odd (Y9) values to acc. Y10 is the mask of even bytes. Bytes are widened to 16
// bits because VPMADDUBSW would saturate.
#define MADDROW(addr, acc) \
	VMOVDQU   addr, Y4    \
	VPAND     Y10, Y4, Y5 \
	VPSRLW    $8, Y4, Y6  \
	VPMADDWD  Y8, Y5, Y5  \
	VPMADDWD  Y9, Y6, Y6  \
	VPADDD    Y5, acc, acc \
	VPADDD    Y6, acc, acc

// SPLITQ loads 32 bytes of the query and widens them into Y8 (even) and Y9 (odd).
#define SPLITQ(addr) \
	VMOVDQU addr, Y9   \
	VPSLLW  $8, Y9, Y8 \
	VPSRAW  $8, Y8, Y8 \
	VPSRAW  $8, Y9, Y9

// func dotU8AVX2(dst *int32, rows *uint8, q *int8, stride, n int)
TEXT ·dotU8AVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ q+16(FP), DX
	MOVQ stride+24(FP), CX
	MOVQ n+32(FP), BX
	LEAQ (CX)(CX*2), R9 // 3 rows
	VPCMPEQW Y10, Y10, Y10
	VPSRLW   $8, Y10, Y10

four:
	CMPQ  BX, $4
	JLT   one
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	MOVQ  SI, R8
	XORQ  AX, AX

fourLoop:
	SPLITQ((DX)(AX*1))
	MADDROW((R8), Y0)
	MADDROW((R8)(CX*1), Y1)
	MADDROW((R8)(CX*2), Y2)
	MADDROW((R8)(R9*1), Y3)
	ADDQ $32, R8
	ADDQ $32, AX
	CMPQ AX, CX
	JLT  fourLoop

	VPHADDD      Y1, Y0, Y0
	VPHADDD      Y3, Y2, Y2
	VPHADDD      Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VMOVDQU      X0, (DI)
	ADDQ         $16, DI
	LEAQ         (SI)(CX*4), SI
	SUBQ         $4, BX
	JMP          four

one:
	TESTQ BX, BX
	JLE   done
	VPXOR Y0, Y0, Y0
	XORQ  AX, AX

oneLoop:
	SPLITQ((DX)(AX*1))
	MADDROW((SI)(AX*1), Y0)
	ADDQ $32, AX
	CMPQ AX, CX
	JLT  oneLoop

	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPHADDD      X0, X0, X0
	VPHADDD      X0, X0, X0
	VMOVD        X0, (DI)
	ADDQ         $4, DI
	ADDQ         CX, SI
	DECQ         BX
	JMP          one

done:
	VZEROUPPER
	RET
