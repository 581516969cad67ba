// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// ipv6Regexp is Relay's expression for IPv6 addresses. It tries the forms in this order.
var ipv6Regexp = func() *regexp.Regexp {
	const group = `[0-9a-fA-F]{1,4}`
	return regexp.MustCompile(`(?i)(?:` + blank + `|[[:punct:]]|^)(` + strings.Join([]string{
		`(?:` + group + `:){7}` + group,
		`(?:` + group + `:){1,7}:`,
		`(?:` + group + `:){1,6}::` + group,
		`(?:` + group + `:){1,5}:(?::` + group + `){1,2}`,
		`(?:` + group + `:){1,4}:(?::` + group + `){1,3}`,
		`(?:` + group + `:){1,3}:(?::` + group + `){1,4}`,
		`(?:` + group + `:){1,2}:(?::` + group + `){1,5}`,
		group + `:(?:(?::` + group + `){1,6})`,
		`:(?:(?::` + group + `){1,7}|:)`,
		`fe80:(?::` + group + `){1,4}%[0-9a-zA-Z]+`,
		`::(?:ffff(?::0{1,4})?:)?` + ipv4,
		`(?:` + group + `:){1,4}:` + ipv4,
	}, `|`) + `)(?:` + blank + `|[[:punct:]]|$)`)
}()

// TestFindIPv6 compares the search with Relay's expression.
func TestFindIPv6(t *testing.T) {
	t.Parallel()
	n := 300_000
	if !testsize.Full() {
		n = 15_000
	}
	random := rand.New(rand.NewPCG(3, 3))
	parts := []string{":", ":", ":", ":", "::", "1", "ab", "fe80", "ffff", "12345", "0", "g", "%", "eth0", ".", "1.2.3.4", "255", "256", "99.1.2.3",
		" ", "\v", "\u00a0", "\u2028", "\u0085", "\u53f7", "\xff", "-", "_", "x", "\x00", "\u017f"}
	for range n {
		var text strings.Builder
		for range random.IntN(24) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		want, got := ipv6Regexp.FindAllStringSubmatchIndex(text.String(), -1), findIPv6(text.String())
		if !slices.EqualFunc(want, got, slices.Equal) {
			require.Equal(t, want, got, "%q", text.String())
		}
	}
}
