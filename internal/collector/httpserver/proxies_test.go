// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestClientAddress(t *testing.T) {
	proxies := (&Limits{TrustedProxies: []string{"10.0.0.0/8", "192.0.2.1"}}).Proxies()
	for _, test := range []struct {
		name, peer string
		header     http.Header
		want       string
	}{
		{"direct", "203.0.113.5:1", nil, "203.0.113.5"},
		{"a stranger's header", "203.0.113.5:1", http.Header{"X-Forwarded-For": {"198.51.100.1"}}, "203.0.113.5"},
		{"a proxy", "192.0.2.1:1", http.Header{"X-Forwarded-For": {"203.0.113.5"}}, "203.0.113.5"},
		{"two proxies", "192.0.2.1:1", http.Header{"X-Forwarded-For": {"203.0.113.5, 10.1.1.1"}}, "203.0.113.5"},
		{"two lines", "192.0.2.1:1", http.Header{"X-Forwarded-For": {"203.0.113.5", "10.1.1.1"}}, "203.0.113.5"},
		{"the client's own entries", "192.0.2.1:1", http.Header{"X-Forwarded-For": {"198.51.100.1, 203.0.113.5"}}, "203.0.113.5"},
		{"a client in the network of proxies", "192.0.2.1:1", http.Header{"X-Forwarded-For": {"10.1.1.1"}}, "10.1.1.1"},
		{"a client without a proxy in their network", "10.1.1.1:1", nil, "10.1.1.1"},
		{"no address", "192.0.2.1:1", http.Header{"X-Forwarded-For": {"unknown"}}, ""},
		{"a header that is not read", "192.0.2.1:1", http.Header{"Forwarded": {"for=203.0.113.5"}}, ""},
		{"IPv6", "[2001:db8::1%eth0]:1", nil, "2001:db8::1"},
		{"mapped", "[::ffff:203.0.113.5]:1", nil, "203.0.113.5"},
		{"a Unix socket", "@", nil, ""},
		{"a proxy on a Unix socket", "@", http.Header{"X-Forwarded-For": {"203.0.113.5"}}, "203.0.113.5"},
	} {
		assert.Equal(t, test.want, proxies.ClientAddress(&http.Request{RemoteAddr: test.peer, Header: test.header}), test.name)
	}
}
