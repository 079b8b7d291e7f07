//go:build !amd64 && !arm64

package transformer

func bestKernels() *kernels { return &genericKernels }
