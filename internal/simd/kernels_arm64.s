#include "textflag.h"

// Instructions that the assembler has no name for.

// SDOT adds to the four 32-bit lanes of d the dot products of four signed bytes
// each of n and m (SDOT Vd.4S, Vn.16B, Vm.16B).
#define SDOT(m, n, d) WORD $(0x4E809400 | (m)<<16 | (n)<<5 | (d))

// FMUL4 and FADD4 work on four float32 lanes.
#define FMUL4(m, n, d) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FADD4(m, n, d) WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))

// UADALP adds pairs of the sixteen bytes of n to the eight 16-bit lanes of d.
#define UADALP(n, d) WORD $(0x6E206800 | (n)<<5 | (d))

// SDOTROW adds the products of 64 bytes of a row in V0 to V3 with the query in
// V16 to V19 to acc. Rows are shifted down to signed bytes by flipping the top
// bit (V25); what that takes off is 128 times the sum of the query.
#define SDOTROW(acc) \
	VEOR V25.B16, V0.B16, V0.B16 \
	VEOR V25.B16, V1.B16, V1.B16 \
	VEOR V25.B16, V2.B16, V2.B16 \
	VEOR V25.B16, V3.B16, V3.B16 \
	SDOT(16, 0, acc)             \
	SDOT(17, 1, acc)             \
	SDOT(18, 2, acc)             \
	SDOT(19, 3, acc)

// SUMQ adds the query in V16 to V19 to V24. V26 is ones.
#define SUMQ \
	SDOT(16, 26, 24) \
	SDOT(17, 26, 24) \
	SDOT(18, 26, 24) \
	SDOT(19, 26, 24)

// func dotU8NEON(dst *int32, rows *uint8, q *int8, stride, n int)
TEXT ·dotU8NEON(SB), NOSPLIT, $0-40
	MOVD  dst+0(FP), R0
	MOVD  rows+8(FP), R1
	MOVD  q+16(FP), R2
	MOVD  stride+24(FP), R3
	MOVD  n+32(FP), R4
	VMOVI $128, V25.B16
	VMOVI $1, V26.B16

four:
	CMP  $4, R4
	BLT  one
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16
	VEOR V24.B16, V24.B16, V24.B16
	MOVD R1, R5
	ADD  R3, R5, R6
	ADD  R3, R6, R7
	ADD  R3, R7, R8
	MOVD R2, R9
	MOVD R3, R10

fourLoop:
	VLD1.P 64(R9), [V16.B16, V17.B16, V18.B16, V19.B16]
	SUMQ
	VLD1.P 64(R5), [V0.B16, V1.B16, V2.B16, V3.B16]
	SDOTROW(20)
	VLD1.P 64(R6), [V0.B16, V1.B16, V2.B16, V3.B16]
	SDOTROW(21)
	VLD1.P 64(R7), [V0.B16, V1.B16, V2.B16, V3.B16]
	SDOTROW(22)
	VLD1.P 64(R8), [V0.B16, V1.B16, V2.B16, V3.B16]
	SDOTROW(23)
	SUBS   $64, R10, R10
	BGT    fourLoop

	// Pairwise adds leave the four sums in order; V24 becomes 128 times its sum.
	VADDP V21.S4, V20.S4, V20.S4
	VADDP V23.S4, V22.S4, V22.S4
	VADDP V22.S4, V20.S4, V20.S4
	VADDP V24.S4, V24.S4, V24.S4
	VADDP V24.S4, V24.S4, V24.S4
	VSHL  $7, V24.S4, V24.S4
	VADD  V24.S4, V20.S4, V20.S4
	VST1.P [V20.S4], 16(R0)
	MOVD  R8, R1
	SUB   $4, R4, R4
	B     four

one:
	CBZ  R4, done
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V24.B16, V24.B16, V24.B16
	MOVD R2, R9
	MOVD R3, R10

oneLoop:
	VLD1.P 64(R9), [V16.B16, V17.B16, V18.B16, V19.B16]
	SUMQ
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	SDOTROW(20)
	SUBS   $64, R10, R10
	BGT    oneLoop

	VSHL  $7, V24.S4, V24.S4
	VADD  V24.S4, V20.S4, V20.S4
	VADDP V20.S4, V20.S4, V20.S4
	VADDP V20.S4, V20.S4, V20.S4
	FMOVS F20, (R0)
	ADD   $4, R0, R0
	SUB   $1, R4, R4
	B     one

done:
	RET

// func dotF32NEON(dst *float32, rows *float32, q *float32, stride, n int)
//
// Products are rounded before they are added, and lanes are added in the order
// that DotF32 documents. V20 to V23 are the sixteen lanes.
TEXT ·dotF32NEON(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD q+16(FP), R2
	MOVD stride+24(FP), R3
	MOVD n+32(FP), R4

row:
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16
	MOVD R2, R9
	MOVD R3, R10

loop:
	VLD1.P 64(R9), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1.P 64(R1), [V0.S4, V1.S4, V2.S4, V3.S4]
	FMUL4(16, 0, 0)
	FMUL4(17, 1, 1)
	FMUL4(18, 2, 2)
	FMUL4(19, 3, 3)
	FADD4(0, 20, 20)
	FADD4(1, 21, 21)
	FADD4(2, 22, 22)
	FADD4(3, 23, 23)
	SUBS   $16, R10, R10
	BGT    loop

	FADD4(22, 20, 20)
	FADD4(23, 21, 21)
	FADD4(21, 20, 20)
	VEXT  $8, V20.B16, V20.B16, V21.B16
	FADD4(21, 20, 20)
	VDUP  V20.S[1], V21.S4
	FADDS F21, F20, F20
	FMOVS F20, (R0)
	ADD   $4, R0, R0
	SUBS  $1, R4, R4
	BGT   row
	RET

// MASKCOUNT loads 64 bytes of a plane and sets V8 to V11 to the bit counts, by
// byte, of the record's line in V0 to V3 under it.
#define MASKCOUNT \
	VLD1.P 64(R9), [V8.B16, V9.B16, V10.B16, V11.B16] \
	VAND   V0.B16, V8.B16, V8.B16                     \
	VAND   V1.B16, V9.B16, V9.B16                     \
	VAND   V2.B16, V10.B16, V10.B16                   \
	VAND   V3.B16, V11.B16, V11.B16                   \
	VCNT   V8.B16, V8.B16                             \
	VCNT   V9.B16, V9.B16                             \
	VCNT   V10.B16, V10.B16                           \
	VCNT   V11.B16, V11.B16

// ADDCOUNT adds V8 to V11, shifted left, to V4 to V7.
#define ADDCOUNT(shift) \
	VSHL shift, V8.B16, V8.B16     \
	VSHL shift, V9.B16, V9.B16     \
	VSHL shift, V10.B16, V10.B16   \
	VSHL shift, V11.B16, V11.B16   \
	VADD V8.B16, V4.B16, V4.B16    \
	VADD V9.B16, V5.B16, V5.B16    \
	VADD V10.B16, V6.B16, V6.B16   \
	VADD V11.B16, V7.B16, V7.B16

// func estimateBitsNEON(dst *float32, recs *byte, planes *uint64, stride, meta, n int, scale, shift float32)
TEXT ·estimateBitsNEON(SB), NOSPLIT, $0-56
	MOVD  dst+0(FP), R0
	MOVD  recs+8(FP), R1
	MOVD  planes+16(FP), R2
	MOVD  stride+24(FP), R3
	MOVD  meta+32(FP), R6
	MOVD  n+40(FP), R4
	FMOVS scale+48(FP), F28
	FMOVS shift+52(FP), F29

row:
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V21.B16, V21.B16, V21.B16
	ADD  R6, R1, R7
	MOVD R2, R9
	MOVD R3, R10

line:
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	VEOR   V4.B16, V4.B16, V4.B16
	VEOR   V5.B16, V5.B16, V5.B16
	VEOR   V6.B16, V6.B16, V6.B16
	VEOR   V7.B16, V7.B16, V7.B16
	MASKCOUNT
	ADDCOUNT($0)
	MASKCOUNT
	ADDCOUNT($1)
	MASKCOUNT
	ADDCOUNT($2)
	MASKCOUNT
	UADALP(4, 20)
	UADALP(5, 20)
	UADALP(6, 20)
	UADALP(7, 20)
	UADALP(8, 21)
	UADALP(9, 21)
	UADALP(10, 21)
	UADALP(11, 21)
	SUBS   $64, R10, R10
	BGT    line

	VUADDLV V20.H8, V20
	VUADDLV V21.H8, V21
	VMOV    V20.S[0], R8
	VMOV    V21.S[0], R9
	SUB     R9<<3, R8, R8
	SCVTFWS R8, F0
	FMULS   F28, F0, F0
	FADDS   F29, F0, F0
	FMOVS   (R7), F1
	FMOVS   4(R7), F2
	FMULS   F1, F0, F0
	FADDS   F2, F0, F0
	FMOVS   F0, (R0)
	ADD     $4, R0, R0
	SUBS    $1, R4, R4
	BGT     row
	RET

// func estimateHalfNEON(dst *float32, recs *byte, planes *uint64, n int, scale, shift float32)
TEXT ·estimateHalfNEON(SB), NOSPLIT, $0-40
	MOVD  dst+0(FP), R0
	MOVD  recs+8(FP), R1
	MOVD  planes+16(FP), R2
	MOVD  n+24(FP), R4
	FMOVS scale+32(FP), F28
	FMOVS shift+36(FP), F29
	VLD1  (R2), [V16.B16]
	ADD   $64, R2, R2
	VLD1  (R2), [V17.B16]
	ADD   $64, R2, R2
	VLD1  (R2), [V18.B16]
	ADD   $64, R2, R2
	VLD1  (R2), [V19.B16]

row:
	VLD1    (R1), [V0.B16]
	VAND    V0.B16, V16.B16, V4.B16
	VAND    V0.B16, V17.B16, V5.B16
	VAND    V0.B16, V18.B16, V6.B16
	VAND    V0.B16, V19.B16, V7.B16
	VCNT    V4.B16, V4.B16
	VCNT    V5.B16, V5.B16
	VCNT    V6.B16, V6.B16
	VCNT    V7.B16, V7.B16
	VSHL    $1, V5.B16, V5.B16
	VSHL    $2, V6.B16, V6.B16
	VADD    V5.B16, V4.B16, V4.B16
	VADD    V6.B16, V4.B16, V4.B16
	VUADDLV V4.B16, V20
	VUADDLV V7.B16, V21
	VMOV    V20.S[0], R8
	VMOV    V21.S[0], R9
	SUB     R9<<3, R8, R8
	SCVTFWS R8, F0
	FMULS   F28, F0, F0
	FADDS   F29, F0, F0
	FMOVS   16(R1), F1
	FMOVS   20(R1), F2
	FMULS   F1, F0, F0
	FADDS   F2, F0, F0
	FMOVS   F0, (R0)
	ADD     $4, R0, R0
	ADD     $32, R1, R1
	SUBS    $1, R4, R4
	BGT     row
	RET

// func prefetch(p *byte, n int)
TEXT ·prefetch(SB), NOSPLIT, $0-16
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1

line:
	PRFM (R0), PLDL1KEEP
	ADD  $64, R0, R0
	SUBS $64, R1, R1
	BGT  line
	RET
