package transformer

import (
	"os"

	"golang.org/x/sys/cpu"

	"github.com/contextmem/contextmem/internal/simd"
)

func bestKernels() *kernels {
	x := &cpu.X86
	return chooseKernels(simd.Active(), os.Getenv("CONTEXTMEM_CPU"), features{
		fma:     x.HasFMA,
		avxVNNI: x.HasAVXVNNI,
		avx512:  x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI,
	})
}

// features are the processor features that decide between the kernels of a level.
type features struct {
	fma     bool
	avxVNNI bool
	avx512  bool // has the AVX-512 extensions that these kernels need
}

// chooseKernels returns the best kernels for a level of package simd. The AVX-512 level of simd requires more extensions than these
// kernels do, so a processor at level AVX2 may get the AVX-512 kernels, unless CONTEXTMEM_CPU requests AVX2.
func chooseKernels(level simd.Level, asked string, has features) *kernels {
	switch {
	case level == simd.AVX512, level == simd.AVX2 && has.avx512 && asked != simd.AVX2.String():
		return &avx512Kernels
	case level == simd.AVX2 && has.fma && has.avxVNNI:
		return &avxVNNIKernels
	case level == simd.AVX2 && has.fma:
		return &avx2Kernels
	}
	return &genericKernels
}

var avx512Kernels = kernels{
	name: "avx512", valueSize: 1, gemm: gemmAVX512, matmul: matmulAVX512, softmax: softmaxAVX512,
	activate: activateAVX512, quantise: quantiseAVX512, addNorm: addNormAVX512,
}

var avx2Kernels = kernels{
	name: "avx2", valueSize: 2, gemm: gemmAVX2, matmul: matmulAVX2, softmax: softmaxAVX2,
	activate: activateAVX2, quantise: quantiseAVX2, addNorm: addNormAVX2,
}
