// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"

	"go.opentelemetry.io/collector/client"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/loopguard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// withClient adds the sender to the context: the project as the tenant, and client metadata, which
// later components use for batching, routing, message keys and headers. The project has the same
// key as in the resource attributes. Clients cannot set these keys with headers, and the metadata
// does not contain the secret of a legacy DSN. The SDK name is the one in our metrics, so that
// made-up names do not create batches or headers.
func (in *ingestion) withClient(ctx context.Context) context.Context {
	ctx = tenant.NewContext(ctx, tenant.Tenant{Ingress: tenant.Sentry, Name: in.auth.ProjectID})
	return withMetadata(ctx,
		metadatum{semconv.SentryProjectID, in.auth.ProjectID},
		metadatum{semconv.MetadataSentryPublicKey, in.auth.PublicKey},
		metadatum{semconv.MetadataSentrySDKName, in.sender.SDK},
		metadatum{semconv.MetadataSentryLinkKey, ""}, // not the one of a header
		metadatum{loopguard.MetadataKey, in.via})
}

// withLinkKey adds the link key of a message to the client metadata.
func withLinkKey(ctx context.Context, key string) context.Context {
	if key == "" {
		return ctx
	}
	return withMetadata(ctx, metadatum{semconv.MetadataSentryLinkKey, key})
}

// metadatum is an entry of the client metadata.
type metadatum struct{ key, value string }

// withMetadata sets values in the client metadata. It removes keys without a value.
func withMetadata(ctx context.Context, set ...metadatum) context.Context {
	info := client.FromContext(ctx)
	metadata := map[string][]string{}
	for key := range info.Metadata.Keys() {
		metadata[key] = info.Metadata.Get(key)
	}
	values := make([]string, len(set)) // in one allocation
	for i, m := range set {
		if values[i] = m.value; m.value == "" {
			delete(metadata, m.key)
		} else {
			metadata[m.key] = values[i : i+1 : i+1]
		}
	}
	info.Metadata = client.NewMetadata(metadata)
	return client.NewContext(ctx, info)
}
