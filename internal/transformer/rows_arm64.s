#include "textflag.h"

// Instructions that the assembler has no name for, on four float32 or 32-bit lanes.
#define FMUL4(m, n, d) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FADD4(m, n, d) WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))
#define FSUB4(m, n, d) WORD $(0x4EA0D400 | (m)<<16 | (n)<<5 | (d)) // d = n - m
#define FDIV4(m, n, d) WORD $(0x6E20FC00 | (m)<<16 | (n)<<5 | (d)) // d = n / m
#define FMLA4(m, n, d) WORD $(0x4E20CC00 | (m)<<16 | (n)<<5 | (d)) // d += n * m
#define FMLS4(m, n, d) WORD $(0x4EA0CC00 | (m)<<16 | (n)<<5 | (d)) // d -= n * m
#define FMAX4(m, n, d) WORD $(0x4E20F400 | (m)<<16 | (n)<<5 | (d))
#define FMIN4(m, n, d) WORD $(0x4EA0F400 | (m)<<16 | (n)<<5 | (d))
#define FADDP4(m, n, d) WORD $(0x6E20D400 | (m)<<16 | (n)<<5 | (d))
#define FMAXV4(n, d) WORD $(0x6E30F800 | (n)<<5 | (d))
#define FMINV4(n, d) WORD $(0x6EB0F800 | (n)<<5 | (d))
#define FRINTN4(n, d) WORD $(0x4E218800 | (n)<<5 | (d))
#define FCVTNS4(n, d) WORD $(0x4E21A800 | (n)<<5 | (d))
#define XTN4H(n, d) WORD $(0x0E612800 | (n)<<5 | (d))
#define XTN8H(n, d) WORD $(0x4E612800 | (n)<<5 | (d))
#define XTN8B(n, d) WORD $(0x0E212800 | (n)<<5 | (d))
#define XTN16B(n, d) WORD $(0x4E212800 | (n)<<5 | (d))

// HORNER sets V3 to V3*V2 + c.
#define HORNER(c) \
	VMOV c.B16, V4.B16 \
	FMLA4(3, 2, 4)     \
	VMOV V4.B16, V3.B16

// func geluNEON(v *float32, n int, p *gelu)
//
// V16 to V24 are the coefficients, V25 clip, V26 -clip, V27 1/2.
TEXT ·geluNEON(SB), NOSPLIT, $0-24
	MOVD    v+0(FP), R0
	MOVD    n+8(FP), R1
	MOVD    p+16(FP), R2
	VLD1R.P 4(R2), [V25.S4]
	VEOR    V26.B16, V26.B16, V26.B16
	FSUB4(25, 26, 26)
	FMOVS   $0.5, F27
	VDUP    V27.S[0], V27.S4
	VLD1R.P 4(R2), [V16.S4]
	VLD1R.P 4(R2), [V17.S4]
	VLD1R.P 4(R2), [V18.S4]
	VLD1R.P 4(R2), [V19.S4]
	VLD1R.P 4(R2), [V20.S4]
	VLD1R.P 4(R2), [V21.S4]
	VLD1R.P 4(R2), [V22.S4]
	VLD1R.P 4(R2), [V23.S4]
	VLD1R.P 4(R2), [V24.S4]

loop:
	VLD1   (R0), [V0.S4]
	FMIN4(25, 0, 1)
	FMAX4(26, 1, 1)
	FMUL4(1, 1, 2)
	VMOV   V24.B16, V3.B16
	HORNER(V23)
	HORNER(V22)
	HORNER(V21)
	HORNER(V20)
	HORNER(V19)
	HORNER(V18)
	HORNER(V17)
	HORNER(V16)
	VMOV   V27.B16, V4.B16
	FMLA4(3, 1, 4)
	FMUL4(4, 0, 0)
	VST1.P [V0.S4], 16(R0)
	SUBS   $4, R1
	BNE    loop
	RET

// func spanNEON(src *float32, n int) (lo, hi float32)
TEXT ·spanNEON(SB), NOSPLIT, $0-24
	MOVD src+0(FP), R0
	MOVD n+8(FP), R1
	VLD1 (R0), [V0.S4]
	VMOV V0.B16, V1.B16

loop:
	VLD1.P 16(R0), [V2.S4]
	FMIN4(2, 0, 0)
	FMAX4(2, 1, 1)
	SUBS   $4, R1
	BNE    loop
	FMINV4(0, 0)
	FMAXV4(1, 1)
	FMOVS  F0, lo+16(FP)
	FMOVS  F1, hi+20(FP)
	RET

// BYTES turns four values into integers less 128 in the low bytes of the lanes.
#define BYTES(v) \
	FSUB4(16, v, v) \
	FMUL4(17, v, v) \
	FCVTNS4(v, v)

// func bytesNEON(dst *uint8, src *float32, n int, low, inv float32)
TEXT ·bytesNEON(SB), NOSPLIT, $0-32
	MOVD  dst+0(FP), R0
	MOVD  src+8(FP), R1
	MOVD  n+16(FP), R2
	FMOVS low+24(FP), F16
	FMOVS inv+28(FP), F17
	VDUP  V16.S[0], V16.S4
	VDUP  V17.S[0], V17.S4
	VMOVI $128, V18.B16

loop:
	VLD1.P 64(R1), [V0.S4, V1.S4, V2.S4, V3.S4]
	BYTES(0)
	BYTES(1)
	BYTES(2)
	BYTES(3)
	XTN4H(0, 4)
	XTN8H(1, 4)
	XTN4H(2, 5)
	XTN8H(3, 5)
	XTN8B(4, 6)
	XTN16B(5, 6)
	VEOR   V18.B16, V6.B16, V6.B16
	VST1.P [V6.B16], 16(R0)
	SUBS   $16, R2
	BNE    loop
	RET

// SUM leaves the sum of the lanes of V0 in all of them.
#define SUM \
	FADDP4(0, 0, 0) \
	FADDP4(0, 0, 0)

// func normNEON(x, res, gain, bias *float32, n int, eps float32)
TEXT ·normNEON(SB), NOSPLIT, $0-44
	MOVD   x+0(FP), R0
	MOVD   res+8(FP), R1
	MOVD   gain+16(FP), R2
	MOVD   bias+24(FP), R3
	MOVD   n+32(FP), R4
	SCVTFS R4, F16
	VDUP   V16.S[0], V16.S4
	VEOR   V0.B16, V0.B16, V0.B16
	MOVD   R0, R5
	MOVD   R4, R6

add:
	VLD1   (R5), [V1.S4]
	VLD1.P 16(R1), [V2.S4]
	FADD4(2, 1, 1)
	FADD4(1, 0, 0)
	VST1.P [V1.S4], 16(R5)
	SUBS   $4, R6
	BNE    add
	SUM
	FDIV4(16, 0, 17) // mean
	VEOR   V0.B16, V0.B16, V0.B16
	MOVD   R0, R5
	MOVD   R4, R6

square:
	VLD1.P 16(R5), [V1.S4]
	FSUB4(17, 1, 1)
	FMLA4(1, 1, 0)
	SUBS   $4, R6
	BNE    square
	SUM
	FMOVS  eps+40(FP), F1
	FDIVS  F16, F0, F0
	FADDS  F1, F0, F0
	FSQRTS F0, F0
	FMOVS  $1.0, F1
	FDIVS  F0, F1, F1
	VDUP   V1.S[0], V18.S4

scale:
	VLD1   (R0), [V1.S4]
	FSUB4(17, 1, 1)
	FMUL4(18, 1, 1)
	VLD1.P 16(R2), [V2.S4]
	VLD1.P 16(R3), [V3.S4]
	FMLA4(2, 1, 3)
	VST1.P [V3.S4], 16(R0)
	SUBS   $4, R4
	BNE    scale
	RET

// EXP turns V2 into e^V2, as exp in Go. Constants in V16 to V25; V3 to V6 are overwritten.
#define EXP \
	FMAX4(18, 2, 2)        \
	FMUL4(16, 2, 3)        \
	FRINTN4(3, 3)          \
	FMLS4(17, 3, 2)        \
	VMOV V21.B16, V4.B16   \
	FMLA4(20, 2, 4)        \
	VMOV V22.B16, V5.B16   \
	FMLA4(4, 2, 5)         \
	VMOV V23.B16, V4.B16   \
	FMLA4(5, 2, 4)         \
	VMOV V24.B16, V5.B16   \
	FMLA4(4, 2, 5)         \
	VMOV V25.B16, V4.B16   \
	FMLA4(5, 2, 4)         \
	FMUL4(2, 2, 5)         \
	FMLA4(5, 4, 2)         \
	FADD4(19, 2, 2)        \
	FCVTNS4(3, 3)          \
	VSHL $23, V3.S4, V3.S4 \
	VADD V3.S4, V2.S4, V2.S4

// func expRowsNEON(s *float32, ld, rows, n int, consts *[10]float32)
//
// n is a multiple of 4.
TEXT ·expRowsNEON(SB), NOSPLIT, $0-40
	MOVD    s+0(FP), R0
	MOVD    ld+8(FP), R1
	MOVD    rows+16(FP), R2
	MOVD    n+24(FP), R3
	MOVD    consts+32(FP), R4
	VLD1R.P 4(R4), [V16.S4]
	VLD1R.P 4(R4), [V17.S4]
	VLD1R.P 4(R4), [V18.S4]
	VLD1R.P 4(R4), [V19.S4]
	VLD1R.P 4(R4), [V20.S4]
	VLD1R.P 4(R4), [V21.S4]
	VLD1R.P 4(R4), [V22.S4]
	VLD1R.P 4(R4), [V23.S4]
	VLD1R.P 4(R4), [V24.S4]
	VLD1R.P 4(R4), [V25.S4]

row:
	VLD1 (R0), [V0.S4]
	MOVD R0, R5
	MOVD R3, R6

top:
	VLD1.P 16(R5), [V1.S4]
	FMAX4(1, 0, 0)
	SUBS   $4, R6
	BNE    top
	FMAXV4(0, 0)
	VDUP   V0.S[0], V7.S4
	VEOR   V0.B16, V0.B16, V0.B16
	MOVD   R0, R5
	MOVD   R3, R6

expLoop:
	VLD1   (R5), [V2.S4]
	FSUB4(7, 2, 2)
	EXP
	FADD4(2, 0, 0)
	VST1.P [V2.S4], 16(R5)
	SUBS   $4, R6
	BNE    expLoop
	SUM
	FDIV4(0, 19, 0)
	MOVD   R0, R5
	MOVD   R3, R6

scaleLoop:
	VLD1   (R5), [V2.S4]
	FMUL4(0, 2, 2)
	VST1.P [V2.S4], 16(R5)
	SUBS   $4, R6
	BNE    scaleLoop
	ADD    R1, R0
	SUBS   $1, R2
	BNE    row
	RET
