package half

import "golang.org/x/sys/cpu"

// kernels reports whether the processor converts numbers itself.
var kernels = cpu.X86.HasAVX2 && cpu.X86.HasF16C

// n numbers, a multiple of kernelWidth above 0.

// same is 1 where 16 bits hold each number as it is, else 0.
//
//go:noescape
func packF16C(dst *uint16, src *float32, n int) (same int)

// top is the greatest magnitude, as bits; what is not a number is above all others.
//
//go:noescape
func roundF16C(dst, src *float32, n int) (top uint32)

func packWide(dst []uint16, src []float32) bool { return packF16C(&dst[0], &src[0], len(src)) == 1 }

func roundWide(dst, src []float32) uint32 { return roundF16C(&dst[0], &src[0], len(src)) }
