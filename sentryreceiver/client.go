// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"

	"go.opentelemetry.io/collector/client"
)

// Keys of the client metadata that go along with everything handed on: for batching, routing and the keys and headers of
// messages. That of the project is the name of the resource attribute.
const (
	metadataProjectID = "sentry.project_id"
	metadataPublicKey = "sentry.public_key"
	metadataSDKName   = "sentry.sdk_name"
)

// withClient names the sender on the context, beside what confighttp has put there; the headers of a client do not get into
// our keys. A secret that a legacy DSN may have is not among them. The name of the SDK is that of our metrics: what clients make up
// does not become a header of a message or a batch of its own.
func (in *ingestion) withClient(ctx context.Context) context.Context {
	info := client.FromContext(ctx)
	metadata := map[string][]string{}
	for key := range info.Metadata.Keys() {
		metadata[key] = info.Metadata.Get(key)
	}
	metadata[metadataProjectID] = []string{in.auth.ProjectID}
	metadata[metadataPublicKey] = []string{in.auth.PublicKey}
	metadata[metadataSDKName] = []string{in.sender.sdk}
	info.Metadata = client.NewMetadata(metadata)
	return client.NewContext(ctx, info)
}
