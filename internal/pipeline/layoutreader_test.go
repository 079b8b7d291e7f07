package pipeline

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLayoutIsJSON(t *testing.T) {
	t.Parallel()
	zero, far := 0, 1<<40
	for _, lay := range []Layout{
		{}, {Offsets: Offsets{Document: 1}}, {Offsets: Offsets{Document: far, Page: &zero}, Page: 1}, {Offsets: Offsets{Document: 7, Page: &far}, Page: 1 << 20},
		{Offsets: Offsets{Document: 3}, Inferred: true}, {Page: 2, Inferred: true},
	} {
		t.Run(fmt.Sprint(lay), func(t *testing.T) {
			want, err := json.Marshal(lay)
			require.NoError(t, err)
			require.Equal(t, string(want), string(lay.encode()))
		})
	}
}
