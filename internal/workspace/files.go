package workspace

import (
	"errors"
	"log/slog"
	"syscall"
)

// DescriptorsPerTenant is the maximal number of file descriptors of an open tenant with the bundled backends.
const DescriptorsPerTenant = 8

const (
	// evictOnFull is the number of idle tenants to close when no descriptors are left.
	evictOnFull = 8
	// reservedFiles is the number of descriptors reserved for connections, tenants in use and uploads.
	reservedFiles = 64
)

// MaxIdle returns the maximal number of idle open tenants. It is want, or less if the process may not open enough files,
// but at least 1. If it is less than want, MaxIdle logs that.
func MaxIdle(want int, log *slog.Logger) int {
	limit, ok := fileLimit()
	if !ok {
		return want
	}
	free := max(limit/2, limit-4*reservedFiles) - reservedFiles/2
	n := max(1, min(want, free/DescriptorsPerTenant))
	if n < want {
		log.Warn("the limit of open files is low: fewer tenants stay open while idle", "tenants", n, "option", want)
	}
	return n
}

// outOfFiles reports whether an error means that the process or the system has no file descriptor left.
func outOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
