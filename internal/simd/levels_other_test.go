//go:build !amd64 && !arm64

package simd

func levels() []kernels { return []kernels{portable} }
