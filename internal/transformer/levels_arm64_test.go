package transformer

import "github.com/contextmem/contextmem/internal/simd"

// testKernels returns the kernels that this machine can run.
func testKernels() []*kernels {
	if simd.Active() == simd.NEON {
		return []*kernels{&genericKernels, &neonKernels}
	}
	return []*kernels{&genericKernels}
}
