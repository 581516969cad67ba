// SPDX-License-Identifier: Apache-2.0

package notices

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestReport(t *testing.T) {
	var b Board
	at := time.Unix(100, 0)
	assert.True(t, b.Report(Notice{"sentry", "", "requests", "not_found", "no such endpoint: /a", 1, at}))
	assert.False(t, b.Report(Notice{"sentry", "", "requests", "not_found", "no such endpoint: /b", 2, at.Add(time.Second)}))
	assert.True(t, b.Report(Notice{"sentry", "", "items", "invalid_json", strings.Repeat("ä", maxDetail), 1, at}))
	list, _, version := b.Read()
	assert.Equal(t, Notice{"sentry", "", "requests", "not_found", "no such endpoint: /b", 3, at.Add(time.Second)}, list[0])
	assert.Equal(t, strings.Repeat("ä", maxDetail/2), list[1].Detail)
	assert.EqualValues(t, 3, version)
}

// TestLimits: no client can fill the memory.
func TestLimits(t *testing.T) {
	var b Board
	for i := range 2 * maxNotices {
		assert.Equal(t, i < maxNotices, b.Report(Notice{Reason: fmt.Sprint(i)}))
	}
	list, _, _ := b.Read()
	assert.Len(t, list, maxNotices)
}

// TestServices: each service has its own notice, up to a limit; a reason is new only once.
func TestServices(t *testing.T) {
	var b Board
	for i := range 2 * maxServices {
		assert.Equal(t, i == 0, b.Report(Notice{Service: fmt.Sprint(i), Reason: "a", Count: 1}))
	}
	list, _, _ := b.Read()
	assert.Len(t, list, maxServices+1)
	assert.Equal(t, Notice{Reason: "a", Count: maxServices}, list[0], "of the others")
	for i := range 2 * maxNamed {
		b.Report(Notice{Service: fmt.Sprint(i), Reason: fmt.Sprint(i % maxNotices)})
	}
	list, _, _ = b.Read()
	assert.LessOrEqual(t, len(list), maxNamed+maxNotices)
}

func TestOffer(t *testing.T) {
	var b Board
	first := b.Offer(Endpoint{KindSpotlight, "http://localhost:8969/stream"})
	second := b.Offer(Endpoint{KindDSN, "http://a@localhost:4319/1"})
	_, endpoints, _ := b.Read()
	assert.Equal(t, []Endpoint{{KindDSN, "http://a@localhost:4319/1"}, {KindSpotlight, "http://localhost:8969/stream"}}, endpoints)
	second()
	_, endpoints, _ = b.Read()
	assert.Len(t, endpoints, 1)
	first()
	_, endpoints, _ = b.Read()
	assert.Empty(t, endpoints)
}
