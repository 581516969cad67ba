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
// our keys. A secret that a legacy DSN may have is not among them.
func (in *ingestion) withClient(ctx context.Context) context.Context {
	info := client.FromContext(ctx)
	metadata := map[string][]string{}
	for key := range info.Metadata.Keys() {
		metadata[key] = info.Metadata.Get(key)
	}
	metadata[metadataProjectID] = []string{in.auth.ProjectID}
	metadata[metadataPublicKey] = []string{in.auth.PublicKey}
	delete(metadata, metadataSDKName)
	if name := in.sdk().Name; plainName(name) {
		metadata[metadataSDKName] = []string{name}
	}
	info.Metadata = client.NewMetadata(metadata)
	return client.NewContext(ctx, info)
}

// maxPlainName: the longest name of Sentry's SDKs, sentry.javascript.react-router and the like, is half of this.
const maxPlainName = 64

// plainName says whether a text, which any client can make up, is fit to become a header of a message or of a request.
func plainName(name string) bool {
	if name == "" || len(name) > maxPlainName {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-', c == '/':
		default:
			return false
		}
	}
	return true
}
