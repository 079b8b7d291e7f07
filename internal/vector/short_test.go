package vector

import (
	"slices"
	"testing"
)

// shortDim is the greatest number of dimensions in short tests. Longer vectors take most of the time, and race where shorter ones do.
const shortDim = 128

// shortly returns a number for whole tests, or another one for short tests.
func shortly(whole, short int) int {
	if testing.Short() {
		return short
	}
	return whole
}

// dimensions returns the numbers of dimensions that are tested.
func dimensions(all ...int) []int {
	return slices.DeleteFunc(all, func(dim int) bool { return testing.Short() && dim > shortDim })
}
