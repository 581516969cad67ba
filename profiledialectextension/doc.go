// SPDX-License-Identifier: Apache-2.0

// Package profiledialectextension is a collector extension (component type "profile_dialect") that
// translates encoded OTLP profiles: requests of older versions to the current one in front of the
// OTLP receiver, and requests of the OTLP exporters to an older one.
//
// A processor cannot do this. The receiver rejects most of the older requests when it decodes
// them, and only an exporter encodes. Receiver and exporters of the collector have middlewares:
//
//	config.go     options
//	translate.go  one request, in both directions
//	http.go       middleware of HTTP servers and clients
//	grpc.go       middleware of gRPC servers and clients
//
// The rules of the versions are in internal/profiles/dialect.
package profiledialectextension
