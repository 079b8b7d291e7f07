// What kernels of whole and of half lines share.

// WEIGH sets acc to the sum of what is left of a code under each plane of a query, counted by word: r1
// to r4, which are used up, are under the planes of weight -8, 4, 2 and 1.
#define WEIGH(r1, r2, r3, r4, acc) \
	VPOPCNTQ r1, r1     \
	VPOPCNTQ r2, r2     \
	VPOPCNTQ r3, r3     \
	VPOPCNTQ r4, r4     \
	VPADDQ   r1, r1, r1 \
	VPSUBQ   r1, r2, r2 \
	VPADDQ   r2, r2, r2 \
	VPADDQ   r2, r3, r3 \
	VPADDQ   r3, r3, r3 \
	VPADDQ   r3, r4, acc

// PAIRED writes the estimates of eight records, which Y0 holds but for factor and offset: those are in
// the order 0, 1, 4, 5 in Y4 and 2, 3, 6, 7 in Y5 once X6 and X7 are put into their upper halves.
#define PAIRED \
	VINSERTF128 $1, X6, Y4, Y4    \
	VINSERTF128 $1, X7, Y5, Y5    \
	VSHUFPS     $0x88, Y5, Y4, Y6 \
	VSHUFPS     $0xDD, Y5, Y4, Y7 \
	VMULPS      Y6, Y0, Y0        \
	VADDPS      Y7, Y0, Y0        \
	VMOVUPS     Y0, (DI)

// PAIRS is PAIRED where factor and offset of each record are in x0 to x7, which may begin at X4 or X5.
#define PAIRS(x0, x1, x2, x3, x4, x5, x6, x7) \
	VMOVLHPS x1, x0, X4 \
	VMOVLHPS x3, x2, X5 \
	VMOVLHPS x5, x4, X6 \
	VMOVLHPS x7, x6, X7 \
	PAIRED

// ONE writes the estimate of a record whose counts by word are in X0.
#define ONE(factor, offset) \
	VPSRLDQ   $8, X0, X1     \
	VPADDQ    X1, X0, X0     \
	VCVTDQ2PS X0, X0         \
	VMULSS    X14, X0, X0    \
	VADDSS    X15, X0, X0    \
	VMULSS    factor, X0, X0 \
	VADDSS    offset, X0, X0 \
	VMOVSS    X0, (DI)

// HALFONE is ONE for the half line at R8.
#define HALFONE \
	ONE(16(R8), 20(R8))
