// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// TestSDKs: names that only begin like a known one are unknown, and a framework's name tells no
// more than the user agent of its request.
func TestSDKs(t *testing.T) {
	const browser = "Mozilla/5.0 (X11; Linux x86_64)"
	for _, test := range []struct{ sdk, userAgent, stated, platform, language string }{
		{"sentry.python", "", "", "python", "python"},
		{"sentry.python.flask", "", "", "python", "python"},
		{"sentry.pythonista", "", "", "", ""},
		{"sentry-ruby", "", "", "ruby", "ruby"},
		{"sentry.javascript.node", browser, "", "node", "nodejs"},
		{"sentry.javascript.node-core", "", "", "node", "nodejs"},
		{"sentry.javascript.react", "", "", "javascript", "webjs"},
		{"sentry.javascript.nextjs", browser, "", "javascript", "webjs"},
		{"sentry.javascript.nextjs", "", "", "node", "nodejs"},
		{"sentry.javascript.nextjs", browser, "node", "node", "nodejs"},
		{"sentry.javascript.react-native", "", "android", "android", "webjs"},
		{"sentry.java.android", "", "android", "android", "java"},
		{"sentry.rust", "", "", "native", "rust"},
		{"sentry.rust", "", "rust", "rust", "rust"},
		{"sentry.dart.flutter", browser, "", "", "dart"},
		{"sentry.cocoa.unity", "", "", "cocoa", "swift"},
		{"", browser, "", "", ""},
		{"someone.else", browser, "php", "php", "php"},
	} {
		id := Identity{Platform: FirstText(test.stated, SDKPlatform(test.sdk, test.userAgent)), Sdk: sentry.ClientSDK{Name: test.sdk}}
		assert.Equal(t, test.platform, id.Platform, test.sdk)
		assert.Equal(t, test.language, id.Language(), test.sdk)
	}
}
