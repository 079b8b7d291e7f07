//go:build !amd64

package simd

func plain(s string) int { return plainGeneric(s) }

func breaks(s string) bool { return breaksGeneric(s) }

func mayHave(string, *Pairs) bool { return true }
