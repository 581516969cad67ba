// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPart(t *testing.T) {
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 300), ",") + "]"
	for limit, want := range map[int]int{0: defaultLimit, -1: defaultLimit, 3: 3, 1000: maxLimit} {
		out, err := part([]byte(`{"list":`+list+`,"n":9007199254740993,"other":1,"none":null}`), []string{"list", "n", "none", "missing"}, limit)
		require.NoError(t, err)
		var entries []int
		require.NoError(t, json.Unmarshal(out["list"], &entries))
		assert.Len(t, entries, want)
		assert.Equal(t, fmt.Sprint(300-want), string(out["more_list"]))
		assert.Equal(t, "9007199254740993", string(out["n"]), "as it was")
		assert.Len(t, out, 4)
	}
	_, err := part([]byte(`{"list":["`+strings.Repeat("x", maxResult)+`"]}`), []string{"list"}, 1)
	assert.ErrorContains(t, err, "use a smaller limit")
}
