// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"net/http"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// openReports gives the opener of what browsers report on their own account, as a page's headers have told them to: content
// security policies broken (raw_security) and network errors (nel).
func openReports(itemType sentry.ItemType) opener {
	return func(req *http.Request, body *httpbody.Body) (*sentry.Envelope, error) {
		envelope, err := sentry.ReadReports(body.Data, sentry.ItemHeader{Type: itemType, ContentType: mediaType(req)})
		// Browsers know nothing of releases. Who wrote the header may have put them there, beside the key.
		query := req.URL.Query()
		envelope.Header.Trace = &sentry.DynamicSamplingContext{
			Release: query.Get("sentry_release"), Environment: query.Get("sentry_environment"),
		}
		if err != nil {
			return envelope, invalidBody("invalid report", err)
		}
		return envelope, nil
	}
}
