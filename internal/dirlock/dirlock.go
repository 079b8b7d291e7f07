// Package dirlock locks a directory for one process. A lock ends with its process.
package dirlock
