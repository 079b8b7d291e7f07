#include "textflag.h"
#include "bits_amd64.h"

// A record's bits are counted under each of the four planes of the query; the
// counts are added with the weights 1, 2, 4 and -8. Planes are zero where the
// record holds something else than code.

// COUNT sets acc to the weighted counts, by word, of the cache line at (R8)(AX),
// with the planes at (DX)(R10).
#define COUNT(acc) \
	VMOVDQU64 (R8)(AX*1), Z0        \
	VPANDQ    192(DX)(R10*1), Z0, Z1 \
	VPANDQ    128(DX)(R10*1), Z0, Z2 \
	VPANDQ    64(DX)(R10*1), Z0, Z3  \
	VPANDQ    (DX)(R10*1), Z0, Z4    \
	WEIGH(Z1, Z2, Z3, Z4, acc)

// ROW sets acc to the weighted counts of the record at R8 and moves R8 on. A
// label is needed for records of several lines.
#define ROW(acc, more, done) \
	XORQ   AX, AX         \
	XORQ   R10, R10       \
	COUNT(acc)            \
more:                     \
	ADDQ   $64, AX        \
	ADDQ   $256, R10      \
	CMPQ   AX, CX         \
	JGE    done           \
	COUNT(Z5)             \
	VPADDQ Z5, acc, acc   \
	JMP    more           \
done:                     \
	ADDQ   CX, R8

// SUMS sets Y0 to scale*sum + shift of eight records, whose counts by word are in Z16 to Z23: pairs of
// words, then 128-bit lanes.
#define SUMS \
	VPUNPCKLQDQ Z17, Z16, Z0       \
	VPUNPCKHQDQ Z17, Z16, Z1       \
	VPUNPCKLQDQ Z19, Z18, Z2       \
	VPUNPCKHQDQ Z19, Z18, Z3       \
	VPUNPCKLQDQ Z21, Z20, Z4       \
	VPUNPCKHQDQ Z21, Z20, Z5       \
	VPUNPCKLQDQ Z23, Z22, Z6       \
	VPUNPCKHQDQ Z23, Z22, Z7       \
	VPADDQ      Z1, Z0, Z0         \
	VPADDQ      Z3, Z2, Z2         \
	VPADDQ      Z5, Z4, Z4         \
	VPADDQ      Z7, Z6, Z6         \
	VSHUFI64X2  $0x88, Z2, Z0, Z1  \
	VSHUFI64X2  $0xDD, Z2, Z0, Z3  \
	VSHUFI64X2  $0x88, Z6, Z4, Z5  \
	VSHUFI64X2  $0xDD, Z6, Z4, Z7  \
	VPADDQ      Z3, Z1, Z1         \
	VPADDQ      Z7, Z5, Z5         \
	VSHUFI64X2  $0x88, Z5, Z1, Z0  \
	VSHUFI64X2  $0xDD, Z5, Z1, Z2  \
	VPADDQ      Z2, Z0, Z0         \
	VCVTQQ2PS   Z0, Y0             \
	VMULPS      Y14, Y0, Y0        \
	VADDPS      Y15, Y0, Y0

// func estimateBitsAVX512(dst *float32, recs *byte, planes *uint64, stride, meta, n int, scale, shift float32)
TEXT ·estimateBitsAVX512(SB), NOSPLIT, $0-56
	MOVQ         dst+0(FP), DI
	MOVQ         recs+8(FP), SI
	MOVQ         planes+16(FP), DX
	MOVQ         stride+24(FP), CX
	MOVQ         meta+32(FP), R11
	MOVQ         n+40(FP), BX
	VBROADCASTSS scale+48(FP), Y14
	VBROADCASTSS shift+52(FP), Y15
	LEAQ         (CX)(CX*2), R9 // 3 records

eight:
	CMPQ BX, $8
	JLT  one

	// Hardware asks for the next lines of a page alone.
	LEAQ       2048(SI), R10
	PREFETCHT0 (R10)
	PREFETCHT0 (R10)(CX*1)
	PREFETCHT0 (R10)(CX*2)
	PREFETCHT0 (R10)(R9*1)
	LEAQ       (R10)(CX*4), R10
	PREFETCHT0 (R10)
	PREFETCHT0 (R10)(CX*1)
	PREFETCHT0 (R10)(CX*2)
	PREFETCHT0 (R10)(R9*1)

	MOVQ SI, R8
	ROW(Z16, more0, done0)
	ROW(Z17, more1, done1)
	ROW(Z18, more2, done2)
	ROW(Z19, more3, done3)
	ROW(Z20, more4, done4)
	ROW(Z21, more5, done5)
	ROW(Z22, more6, done6)
	ROW(Z23, more7, done7)

	SUMS

	// Factors and offsets of the eight records.
	LEAQ        (SI)(R11*1), R8
	LEAQ        (R8)(CX*4), R10
	VMOVSD      (R8), X4
	VMOVHPS     (R8)(CX*1), X4, X4
	VMOVSD      (R8)(CX*2), X5
	VMOVHPS     (R8)(R9*1), X5, X5
	VMOVSD      (R10), X6
	VMOVHPS     (R10)(CX*1), X6, X6
	VMOVSD      (R10)(CX*2), X7
	VMOVHPS     (R10)(R9*1), X7, X7
	PAIRED
	ADDQ        $32, DI
	LEAQ        (SI)(CX*8), SI
	SUBQ        $8, BX
	JMP         eight

one:
	TESTQ BX, BX
	JLE   end
	MOVQ  SI, R8
	ROW(Z16, moreOne, doneOne)
	VEXTRACTI64X4 $1, Z16, Y0
	VPADDQ        Y16, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDQ        X1, X0, X0
	ONE((SI)(R11*1), 4(SI)(R11*1))
	ADDQ          $4, DI
	ADDQ          CX, SI
	DECQ          BX
	JMP           one

end:
	VZEROUPPER
	RET

// PICK sets acc to the weighted counts of the record whose position is at off of the list at
// BX, and x to its factor and offset.
#define PICK(off, acc, x, more, done) \
	MOVL   off(BX), R8        \
	IMULQ  CX, R8             \
	ADDQ   SI, R8             \
	ROW(acc, more, done)      \
	SUBQ   CX, R8             \
	VMOVSD (R8)(R11*1), x

// AHEAD asks for the first two lines of a record that comes later.
#define AHEAD(off) \
	MOVL       off(BX), R8 \
	IMULQ      CX, R8      \
	PREFETCHT0 (SI)(R8*1)  \
	ADDQ       CX, R8      \
	PREFETCHT0 -64(SI)(R8*1)

// func pickBitsAVX512(dst *float32, recs *byte, positions *uint32, planes *uint64, stride, meta, n int, scale, shift float32)
TEXT ·pickBitsAVX512(SB), NOSPLIT, $0-64
	MOVQ         dst+0(FP), DI
	MOVQ         recs+8(FP), SI
	MOVQ         positions+16(FP), BX
	MOVQ         planes+24(FP), DX
	MOVQ         stride+32(FP), CX
	MOVQ         meta+40(FP), R11
	MOVQ         n+48(FP), R9
	VBROADCASTSS scale+56(FP), Y14
	VBROADCASTSS shift+60(FP), Y15

eight:
	CMPQ R9, $8
	JLT  one
	CMPQ R9, $24
	JLT  near
	AHEAD(64)
	AHEAD(68)
	AHEAD(72)
	AHEAD(76)
	AHEAD(80)
	AHEAD(84)
	AHEAD(88)
	AHEAD(92)

near:
	PICK(0, Z16, X24, more0, done0)
	PICK(4, Z17, X25, more1, done1)
	PICK(8, Z18, X26, more2, done2)
	PICK(12, Z19, X27, more3, done3)
	PICK(16, Z20, X28, more4, done4)
	PICK(20, Z21, X29, more5, done5)
	PICK(24, Z22, X30, more6, done6)
	PICK(28, Z23, X31, more7, done7)

	SUMS
	PAIRS(X24, X25, X26, X27, X28, X29, X30, X31)
	ADDQ        $32, DI
	ADDQ        $32, BX
	SUBQ        $8, R9
	JMP         eight

one:
	TESTQ R9, R9
	JLE   end
	PICK(0, Z16, X24, moreOne, doneOne)
	VEXTRACTI64X4 $1, Z16, Y0
	VPADDQ        Y16, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDQ        X1, X0, X0
	ONE((R8)(R11*1), 4(R8)(R11*1))
	ADDQ          $4, DI
	ADDQ          $4, BX
	DECQ          R9
	JMP           one

end:
	VZEROUPPER
	RET

// The number of bits of each value 0 to 15, times 1, 2, 4 and 8.
DATA nibbles<>+0(SB)/8, $0x0302020102010100
DATA nibbles<>+8(SB)/8, $0x0403030203020201
DATA nibbles<>+16(SB)/8, $0x0604040204020200
DATA nibbles<>+24(SB)/8, $0x0806060406040402
DATA nibbles<>+32(SB)/8, $0x0c08080408040400
DATA nibbles<>+40(SB)/8, $0x100c0c080c080804
DATA nibbles<>+48(SB)/8, $0x1810100810080800
DATA nibbles<>+56(SB)/8, $0x2018181018101008
GLOBL nibbles<>(SB), RODATA|NOPTR, $64

// NIBBLES sets what LOOKUP needs: the tables in Y9 to Y12, 0x0f in each byte of Y8, and 0 in Y13.
#define NIBBLES \
	VBROADCASTI128 nibbles<>+0(SB), Y9   \
	VBROADCASTI128 nibbles<>+16(SB), Y10 \
	VBROADCASTI128 nibbles<>+32(SB), Y11 \
	VBROADCASTI128 nibbles<>+48(SB), Y12 \
	VPCMPEQW       Y8, Y8, Y8            \
	VPSRLW         $12, Y8, Y8           \
	VPSLLW         $8, Y8, Y13           \
	VPOR           Y13, Y8, Y8           \
	VPXOR          Y13, Y13, Y13

// LOOKUP sets out to the weighted bit counts, by byte, of the 32 bytes in Y0
// under a plane. Y8 masks the low half of each byte; Y6 is used up.
#define LOOKUP(plane, table, out) \
	VPAND   plane, Y0, out  \
	VPSRLW  $4, out, Y6     \
	VPAND   Y8, out, out    \
	VPAND   Y8, Y6, Y6      \
	VPSHUFB out, table, out \
	VPSHUFB Y6, table, Y6   \
	VPADDB  Y6, out, out

// HALF adds the weighted counts of 32 bytes at off in a cache line to Y7. Bytes
// hold at most 8*(1+2+4) and 8*8.
#define HALF(off) \
	VMOVDQU off(SI)(AX*1), Y0             \
	LOOKUP(off(DX)(R10*1), Y9, Y1)        \
	LOOKUP((64+off)(DX)(R10*1), Y10, Y2)  \
	LOOKUP((128+off)(DX)(R10*1), Y11, Y3) \
	LOOKUP((192+off)(DX)(R10*1), Y12, Y4) \
	VPADDB  Y2, Y1, Y1                    \
	VPADDB  Y3, Y1, Y1                    \
	VPSADBW Y13, Y1, Y1                   \
	VPSADBW Y13, Y4, Y4                   \
	VPADDQ  Y1, Y7, Y7                    \
	VPSUBQ  Y4, Y7, Y7

// func estimateBitsAVX2(dst *float32, recs *byte, planes *uint64, stride, meta, n int, scale, shift float32)
TEXT ·estimateBitsAVX2(SB), NOSPLIT, $0-56
	MOVQ           dst+0(FP), DI
	MOVQ           recs+8(FP), SI
	MOVQ           planes+16(FP), DX
	MOVQ           stride+24(FP), CX
	MOVQ           meta+32(FP), R11
	MOVQ           n+40(FP), BX
	VMOVSS         scale+48(FP), X14
	VMOVSS         shift+52(FP), X15
	NIBBLES

row:
	VPXOR Y7, Y7, Y7
	XORQ  AX, AX
	XORQ  R10, R10

line:
	HALF(0)
	HALF(32)
	ADDQ $64, AX
	ADDQ $256, R10
	CMPQ AX, CX
	JLT  line

	VEXTRACTI128 $1, Y7, X1
	VPADDQ       X1, X7, X0
	ONE((SI)(R11*1), 4(SI)(R11*1))
	ADDQ         $4, DI
	ADDQ         CX, SI
	DECQ         BX
	JNZ          row
	VZEROUPPER
	RET

// func estimateHalfAVX2(dst *float32, recs *byte, planes *uint64, n int, scale, shift float32)
TEXT ·estimateHalfAVX2(SB), NOSPLIT, $0-40
	MOVQ           dst+0(FP), DI
	MOVQ           recs+8(FP), R8
	MOVQ           planes+16(FP), DX
	MOVQ           n+24(FP), BX
	VMOVSS         scale+32(FP), X14
	VMOVSS         shift+36(FP), X15
	NIBBLES

pair:
	PREFETCHT0 2048(R8)
	VMOVDQU (R8), X0
	CMPQ    BX, $1
	JEQ     count
	VINSERTI128 $1, 32(R8), Y0, Y0

count:
	LOOKUP((DX), Y9, Y1)
	LOOKUP(64(DX), Y10, Y2)
	LOOKUP(128(DX), Y11, Y3)
	LOOKUP(192(DX), Y12, Y4)
	VPADDB       Y2, Y1, Y1
	VPADDB       Y3, Y1, Y1
	VPSADBW      Y13, Y1, Y1
	VPSADBW      Y13, Y4, Y4
	VPSUBQ       Y4, Y1, Y0
	VEXTRACTI128 $1, Y0, X5
	HALFONE
	ADDQ         $4, DI
	ADDQ         $32, R8
	DECQ         BX
	JZ           end
	VMOVDQA      X5, X0
	HALFONE
	ADDQ         $4, DI
	ADDQ         $32, R8
	DECQ         BX
	JNZ          pair

end:
	VZEROUPPER
	RET
