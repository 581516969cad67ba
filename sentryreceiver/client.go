// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"

	"go.opentelemetry.io/collector/client"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// withClient adds the sender to the client metadata of the context, for batching, routing and the
// keys and headers of messages. The key of the project is that of the resource attribute. Headers
// of a client cannot set these keys, and they do not contain the secret of a legacy DSN. The name
// of the SDK is that of our metrics, so that invented names create no headers or batches.
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
