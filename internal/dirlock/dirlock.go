// Package dirlock lets one process use a directory. A lock ends with the process.
package dirlock
