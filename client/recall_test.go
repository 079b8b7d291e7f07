package client

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

func TestChunkTellsWhoseKeywordScoreItHas(t *testing.T) {
	for _, rough := range []bool{false, true} {
		var c chunk
		require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{"id":"a","keyword_rough":%t,"score_parts":{"keyword":0.5}}`, rough), &c))
		assert.Equal(t, &contextmem.Explain{Keyword: .5, KeywordRough: rough}, c.chunk(contextmem.ClassKnowledge).Explain)
	}
}
