//go:build !amd64 && !arm64

package transformer

func testKernels() []*kernels { return []*kernels{&genericKernels} }
