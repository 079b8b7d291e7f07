package workspace

import (
	"errors"
	"log/slog"
	"syscall"
)

// DescriptorsPerTenant is how many file descriptors an open tenant takes at most with the bundled backends.
const DescriptorsPerTenant = 8

const (
	// evictOnFull is how many idle tenants are closed when no descriptors are left.
	evictOnFull = 8
	// reservedFiles are the descriptors left to everything but idle tenants: connections, tenants in use, uploads.
	reservedFiles = 64
)

// MaxIdle returns how many tenants may stay open while idle: want, or less where the process may not have enough open
// files, which it logs; never less than 1.
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

// outOfFiles reports whether an error says that the process or the system has no file descriptor left.
func outOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
