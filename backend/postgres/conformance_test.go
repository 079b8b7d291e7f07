package postgres

import (
	"strings"
	"testing"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
)

func TestConformance(t *testing.T) {
	backendtest.RunStores(t, backendtest.StoresHarness{Open: func(t testing.TB, dir string) backend.Stores {
		name := dir
		if strings.Contains(t.Name(), "/Store/") {
			name = "stores" // of all these tests side by side: a workspace must not see rows of another
		}
		return openTest(t, name, nil)
	}})
}
