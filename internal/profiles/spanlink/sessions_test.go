// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// TestSessionsAreCopies: texts in the index do not keep their original message in memory.
func TestSessionsAreCopies(t *testing.T) {
	message := strings.Repeat("x", 1000)
	s := Session{Tenant: Tenant{message[:10], message[10:20]}}
	for i := range s.Parts {
		s.Parts[i] = message[i+20 : i+30]
	}
	x := NewIndex(Sentry, Limits{Spans: 10, MaxAge: time.Hour})
	c := s.cloneFor(x.store.shares.tenant(s.Tenant).Tenant)
	assert.Equal(t, s, c)
	assert.NotSame(t, unsafe.StringData(s.Tenant.Authenticated), unsafe.StringData(c.Tenant.Authenticated))
	assert.NotSame(t, unsafe.StringData(s.Tenant.Stated), unsafe.StringData(c.Tenant.Stated))
	for i := range s.Parts {
		assert.NotSame(t, unsafe.StringData(s.Parts[i]), unsafe.StringData(c.Parts[i]))
	}
}
