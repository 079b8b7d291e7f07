package transformer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/cpu"

	"github.com/contextmem/contextmem/internal/simd"
)

// testKernels returns the kernels that this machine can run.
func testKernels() []*kernels {
	all := []*kernels{&genericKernels}
	if simd.Active() >= simd.AVX2 && cpu.X86.HasFMA {
		all = append(all, &avx2Kernels)
		if cpu.X86.HasAVXVNNI {
			all = append(all, &avxVNNIKernels)
		}
	}
	if simd.Active() >= simd.AVX512 {
		all = append(all, &avx512Kernels)
	}
	return all
}

func TestChooseKernels(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		level simd.Level
		asked string
		has   features
		want  *kernels
	}{
		"all":                        {simd.AVX512, "", features{true, true, true}, &avx512Kernels},
		"lowered":                    {simd.AVX2, "avx2", features{true, false, true}, &avx2Kernels},
		"VNNI without VPOPCNTDQ":     {simd.AVX2, "", features{true, false, true}, &avx512Kernels},
		"unknown name":               {simd.AVX2, "mmx", features{true, false, true}, &avx512Kernels},
		"AVX-VNNI":                   {simd.AVX2, "", features{true, true, false}, &avxVNNIKernels},
		"AVX2":                       {simd.AVX2, "", features{true, false, false}, &avx2Kernels},
		"AVX2 without FMA":           {simd.AVX2, "", features{}, &genericKernels},
		"generic asked for":          {simd.Generic, "generic", features{true, true, true}, &genericKernels},
		"generic, with some AVX-512": {simd.Generic, "", features{true, false, false}, &genericKernels},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Same(t, c.want, chooseKernels(c.level, c.asked, c.has), name)
		})
	}
}
