// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"

	"go.opentelemetry.io/collector/client"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// withClient adds the sender to the client metadata of the context, which later components use for
// batching, routing, message keys and headers. The project has the same key as in the resource
// attributes. Clients cannot set these keys with headers, and the metadata does not contain the
// secret of a legacy DSN. The SDK name is the one in our metrics, so that made-up names do not
// create batches or headers.
func (in *ingestion) withClient(ctx context.Context) context.Context {
	info := client.FromContext(ctx)
	metadata := map[string][]string{}
	for key := range info.Metadata.Keys() {
		metadata[key] = info.Metadata.Get(key)
	}
	metadata[semconv.SentryProjectID] = []string{in.auth.ProjectID}
	metadata[semconv.MetadataSentryPublicKey] = []string{in.auth.PublicKey}
	metadata[semconv.MetadataSentrySDKName] = []string{in.sender.SDK}
	info.Metadata = client.NewMetadata(metadata)
	return client.NewContext(ctx, info)
}
