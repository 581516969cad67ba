// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// openReports returns the opener for reports that browsers send if a page's headers ask for them:
// violations of content security policies (raw_security) and network errors (nel).
func openReports(itemType sentry.ItemType) opener {
	return func(sub *submission, body *httpbody.Body) (*sentry.Envelope, error) {
		envelope, err := sentry.ReadReports(body.Data, sentry.ItemHeader{Type: itemType, ContentType: mediaType(sub.req)})
		// Browsers do not know the release and environment. Site owners can add them to the report
		// URL, next to the key.
		query := sub.req.URL.Query()
		envelope.Header.Trace = &sentry.DynamicSamplingContext{
			Release: query.Get("sentry_release"), Environment: query.Get("sentry_environment"),
		}
		if err != nil {
			return envelope, invalidBody("invalid report", err)
		}
		return envelope, nil
	}
}
