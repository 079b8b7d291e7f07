//go:build !unix

package workspace

// fileLimit returns false, since the limit of open files is unknown on this system.
func fileLimit() (int, bool) { return 0, false }
