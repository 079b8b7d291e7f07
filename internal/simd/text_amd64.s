#include "textflag.h"

DATA plainControl<>+0(SB)/4, $0x1f1f1f1f
GLOBL plainControl<>(SB), RODATA|NOPTR, $4
DATA plainQuote<>+0(SB)/4, $0x22222222
GLOBL plainQuote<>(SB), RODATA|NOPTR, $4
DATA plainBackslash<>+0(SB)/4, $0x5c5c5c5c
GLOBL plainBackslash<>(SB), RODATA|NOPTR, $4

DATA textStop<>+0(SB)/4, $0x2e2e2e2e
GLOBL textStop<>(SB), RODATA|NOPTR, $4
DATA textAsk<>+0(SB)/4, $0x3f3f3f3f
GLOBL textAsk<>(SB), RODATA|NOPTR, $4
DATA textCall<>+0(SB)/4, $0x21212121
GLOBL textCall<>(SB), RODATA|NOPTR, $4
DATA textLine<>+0(SB)/4, $0x0a0a0a0a
GLOBL textLine<>(SB), RODATA|NOPTR, $4
DATA textCase<>+0(SB)/4, $0x20202020
GLOBL textCase<>(SB), RODATA|NOPTR, $4

// SPECIAL sets the bits of m for the bytes of x that are not plain: those up to 0x1f, quotes, backslashes, and those with the top bit.
#define SPECIAL(x, control, quote, backslash, a, b, m) \
	VPMINUB   control, x, a   \
	VPCMPEQB  a, x, a         \
	VPCMPEQB  quote, x, b     \
	VPOR      b, a, a         \
	VPCMPEQB  backslash, x, b \
	VPOR      b, a, a         \
	VPOR      x, a, a         \
	VPMOVMSKB a, m

// func plainAVX2(p *byte, n int) int
//
// n is 16 or more. The last bytes overlap those before them.
TEXT ·plainAVX2(SB), NOSPLIT, $0-24
	MOVQ         p+0(FP), SI
	MOVQ         n+8(FP), CX
	XORQ         AX, AX
	VPBROADCASTD plainControl<>(SB), Y5
	VPBROADCASTD plainQuote<>(SB), Y6
	VPBROADCASTD plainBackslash<>(SB), Y7
	CMPQ         CX, $32
	JL           short
	LEAQ         -32(CX), R8

loop:
	VMOVDQU (SI)(AX*1), Y0
	SPECIAL(Y0, Y5, Y6, Y7, Y1, Y2, DX)
	TESTL   DX, DX
	JNZ     found
	ADDQ    $32, AX
	CMPQ    AX, R8
	JLE     loop
	CMPQ    AX, CX
	JGE     all
	MOVQ    R8, AX
	VMOVDQU (SI)(AX*1), Y0
	SPECIAL(Y0, Y5, Y6, Y7, Y1, Y2, DX)
	TESTL   DX, DX
	JZ      all

found:
	BSFL DX, DX
	ADDQ DX, AX
	VZEROUPPER
	MOVQ AX, ret+16(FP)
	RET

short:
	VMOVDQU (SI), X0
	SPECIAL(X0, X5, X6, X7, X1, X2, DX)
	TESTL   DX, DX
	JNZ     found
	LEAQ    -16(CX), AX
	VMOVDQU (SI)(AX*1), X0
	SPECIAL(X0, X5, X6, X7, X1, X2, DX)
	TESTL   DX, DX
	JNZ     found

all:
	VZEROUPPER
	MOVQ CX, ret+16(FP)
	RET

// BREAKS sets the bits of m for the bytes of x that end sentences or lines, and those with the top bit.
#define BREAKS(x, stop, ask, call, line, a, b, m) \
	VPCMPEQB  stop, x, a \
	VPCMPEQB  ask, x, b  \
	VPOR      b, a, a    \
	VPCMPEQB  call, x, b \
	VPOR      b, a, a    \
	VPCMPEQB  line, x, b \
	VPOR      b, a, a    \
	VPOR      x, a, a    \
	VPMOVMSKB a, m

// func breaksAVX2(p *byte, n int) bool
//
// n is 16 or more. The last bytes overlap those before them.
TEXT ·breaksAVX2(SB), NOSPLIT, $0-17
	MOVQ         p+0(FP), SI
	MOVQ         n+8(FP), CX
	XORQ         AX, AX
	VPBROADCASTD textStop<>(SB), Y4
	VPBROADCASTD textAsk<>(SB), Y5
	VPBROADCASTD textCall<>(SB), Y6
	VPBROADCASTD textLine<>(SB), Y7
	CMPQ         CX, $32
	JL           short
	LEAQ         -32(CX), R8

loop:
	VMOVDQU (SI)(AX*1), Y0
	BREAKS(Y0, Y4, Y5, Y6, Y7, Y1, Y2, DX)
	TESTL   DX, DX
	JNZ     yes
	ADDQ    $32, AX
	CMPQ    AX, R8
	JLE     loop
	VMOVDQU (SI)(R8*1), Y0
	BREAKS(Y0, Y4, Y5, Y6, Y7, Y1, Y2, DX)
	TESTL   DX, DX
	JNZ     yes
	JMP     no

short:
	VMOVDQU (SI), X0
	VMOVDQU -16(SI)(CX*1), X3
	BREAKS(X0, X4, X5, X6, X7, X1, X2, DX)
	BREAKS(X3, X4, X5, X6, X7, X1, X2, AX)
	ORL     AX, DX
	JNZ     yes

no:
	VZEROUPPER
	MOVB $0, ret+16(FP)
	RET

yes:
	VZEROUPPER
	MOVB $1, ret+16(FP)
	RET

// PAIRS sets a to the bytes of x in lower case that are followed by those of y as in one of three pairs.
#define PAIRS(x, y, a0, b0, a1, b1, a2, b2, case, a, b, c) \
	VPOR     case, x, x \
	VPCMPEQB a0, x, a   \
	VPCMPEQB b0, y, b   \
	VPAND    b, a, a    \
	VPCMPEQB a1, x, b   \
	VPCMPEQB b1, y, c   \
	VPAND    c, b, b    \
	VPOR     b, a, a    \
	VPCMPEQB a2, x, b   \
	VPCMPEQB b2, y, c   \
	VPAND    c, b, b    \
	VPOR     b, a, a

// func pairsAVX2(p *byte, n int, pairs *[6]byte) bool
//
// n is 33 or more. The last bytes overlap those before them.
TEXT ·pairsAVX2(SB), NOSPLIT, $0-25
	MOVQ         p+0(FP), SI
	MOVQ         n+8(FP), CX
	MOVQ         pairs+16(FP), BX
	XORQ         AX, AX
	VPBROADCASTB 0(BX), Y8
	VPBROADCASTB 1(BX), Y9
	VPBROADCASTB 2(BX), Y10
	VPBROADCASTB 3(BX), Y11
	VPBROADCASTB 4(BX), Y12
	VPBROADCASTB 5(BX), Y13
	VPBROADCASTD textCase<>(SB), Y14
	LEAQ         -33(CX), R8

loop:
	VMOVDQU (SI)(AX*1), Y0
	VMOVDQU 1(SI)(AX*1), Y1
	PAIRS(Y0, Y1, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y2, Y3, Y4)
	VPTEST  Y2, Y2
	JNZ     yes
	ADDQ    $32, AX
	CMPQ    AX, R8
	JLE     loop
	VMOVDQU (SI)(R8*1), Y0
	VMOVDQU 1(SI)(R8*1), Y1
	PAIRS(Y0, Y1, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y2, Y3, Y4)
	VPTEST  Y2, Y2
	JNZ     yes
	VZEROUPPER
	MOVB    $0, ret+24(FP)
	RET

yes:
	VZEROUPPER
	MOVB $1, ret+24(FP)
	RET
