package half

import "golang.org/x/sys/cpu"

// kernels reports whether the processor supports the conversion instructions.
var kernels = cpu.X86.HasAVX2 && cpu.X86.HasF16C

// n is the number of values, a positive multiple of kernelWidth.

// packF16C sets same to 1 if binary16 represents each number exactly, else to 0.
//
//go:noescape
func packF16C(dst *uint16, src *float32, n int) (same int)

// roundF16C returns the bits of the greatest magnitude. NaN is above all other values.
//
//go:noescape
func roundF16C(dst, src *float32, n int) (top uint32)

func packWide(dst []uint16, src []float32) bool { return packF16C(&dst[0], &src[0], len(src)) == 1 }

func roundWide(dst, src []float32) uint32 { return roundF16C(&dst[0], &src[0], len(src)) }
