package item

import (
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
)

// StatusOf returns the state of a stored item as users see it.
func StatusOf(s backend.State) content.Status {
	switch s {
	case backend.Queued:
		return content.StatusQueued
	case backend.Processing:
		return content.StatusProcessing
	case backend.GraphCreation:
		return content.StatusGraphCreation
	case backend.Completed:
		return content.StatusCompleted
	case backend.Errored:
		return content.StatusErrored
	}
	return ""
}
