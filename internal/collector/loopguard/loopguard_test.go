// SPDX-License-Identifier: Apache-2.0

package loopguard

import (
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// forwarded is the number of times that data is forwarded around collectors until one refuses it.
func forwarded(t *testing.T, collectors ...*Guard) int {
	via := ""
	for n := range 1000 {
		at := collectors[n%len(collectors)]
		if n > 0 {
			var loop bool
			if via, loop = at.Receive(http.Header{Header: {via}}); loop {
				return n
			}
		}
		via = at.Send(via)
	}
	require.Fail(t, "a loop does not end")
	return 0
}

func TestLoopsEnd(t *testing.T) {
	assert.Equal(t, 2, forwarded(t, New()), "own receiver")
	assert.Equal(t, 4, forwarded(t, New(), New()), "two collectors")
	many := make([]*Guard, 100)
	for i := range many {
		many[i] = New()
	}
	assert.Equal(t, maxHops, forwarded(t, many...), "a chain, or a ring whose IDs change")
}

func TestReceive(t *testing.T) {
	edge, central := New(), New()
	via, loop := central.Receive(http.Header{})
	assert.Empty(t, via)
	assert.False(t, loop, "an SDK")
	via, loop = central.Receive(http.Header{Header: {edge.Send("")}})
	assert.False(t, loop, "a chain")
	assert.Equal(t, edge.id+","+central.id, central.Send(via))
	_, loop = edge.Receive(http.Header{Header: {edge.id, central.id}})
	assert.False(t, loop, "the data came from another receiver of the edge")
	_, loop = edge.Receive(http.Header{Header: {edge.id, central.id, edge.id}})
	assert.True(t, loop, "two headers")
}

// TestReceiversInAChain: an exporter may send to another receiver of its process.
func TestReceiversInAChain(t *testing.T) {
	g := New()
	g.AddReceiver()
	withdraw := g.AddReceiver()
	assert.Equal(t, 3, forwarded(t, g))
	withdraw()
	assert.Equal(t, 2, forwarded(t, g))
}

func TestIsTarget(t *testing.T) {
	for _, test := range []struct {
		target, listener string
		want             bool
	}{
		{"localhost:4319", "127.0.0.1:4319", true},
		{"localhost:4319", "[::]:4319", true},
		{"127.0.0.1:4319", "0.0.0.0:4319", true},
		{"[::1]:4319", "[::1]:4319", true},
		{"localhost:4319", "127.0.0.1:4320", false},
		{"192.0.2.1:4319", "127.0.0.1:4319", false},
		{"192.0.2.1:4319", "0.0.0.0:4319", false},
		{"sentry.io", "0.0.0.0:4319", false},
		{"localhost:4319", "192.0.2.1:4319", false},
	} {
		listener, err := net.ResolveTCPAddr("tcp", test.listener)
		require.NoError(t, err)
		g := New()
		assert.False(t, g.IsTarget(listener))
		withdraw := g.AddTarget(test.target)
		assert.Equal(t, test.want, g.IsTarget(listener), test.target+" "+test.listener)
		withdraw()
		assert.False(t, g.IsTarget(listener))
	}
}
