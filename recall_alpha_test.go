package contextmem

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAlphaAsJSON(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal([]Alpha{{}, AutoAlpha(), FixedAlpha(0), FixedAlpha(.25)})
	require.NoError(t, err)
	require.JSONEq(t, `[null,"auto",0,0.25]`, string(b))
}
