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

// features are what the choice among the kernels of a level depends on.
type features struct {
	fma     bool
	avxVNNI bool
	avx512  bool // what the kernels here need of it
}

// chooseKernels returns the best kernels for a level of package simd. Its AVX-512 asks for
// more than is needed here, so a processor that is at AVX2 there may take the
// AVX-512 kernels, unless CONTEXTMEM_CPU asked for AVX2.
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
