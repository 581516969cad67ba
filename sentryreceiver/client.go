// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"

	"go.opentelemetry.io/collector/client"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/loopguard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// withClient adds the sender of a message to the context: the project as the tenant, and client
// metadata, which later components use for batching, routing, message keys and headers. The project
// has the same key as in the resource attributes. Clients cannot set these keys with headers, and
// the metadata does not contain the secret of a legacy DSN. The SDK name is the one in our metrics,
// so that made-up names do not create batches or headers.
func (in *ingestion) withClient(ctx context.Context, linkKey string) context.Context {
	ctx = tenant.NewContext(ctx, tenant.Tenant{Ingress: tenant.Sentry, Name: in.auth.ProjectID})
	set := [...]struct{ key, value string }{
		{semconv.SentryProjectID, in.auth.ProjectID},
		{semconv.MetadataSentryPublicKey, in.auth.PublicKey},
		{semconv.MetadataSentrySDKName, in.sender.SDK},
		{semconv.MetadataSentryLinkKey, linkKey},
		{loopguard.MetadataKey, in.via},
	}
	info := client.FromContext(ctx)
	metadata := map[string][]string{}
	for key := range info.Metadata.Keys() {
		metadata[key] = info.Metadata.Get(key)
	}
	values := make([]string, len(set)) // in one allocation
	for i, m := range set {
		if values[i] = m.value; m.value == "" {
			delete(metadata, m.key) // not the value of a header
		} else {
			metadata[m.key] = values[i : i+1 : i+1]
		}
	}
	info.Metadata = client.NewMetadata(metadata)
	return client.NewContext(ctx, info)
}
