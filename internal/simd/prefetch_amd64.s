#include "textflag.h"

// func prefetch(p *byte, n int)
TEXT ·prefetch(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), BX

line:
	PREFETCHT0 (SI)
	ADDQ       $64, SI
	SUBQ       $64, BX
	JG         line
	RET
