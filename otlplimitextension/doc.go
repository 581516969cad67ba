// SPDX-License-Identifier: Apache-2.0

// Package otlplimitextension is a collector extension (component type "otlp_limit") that limits the
// memory of requests to the collector's OTLP receiver.
//
// The receiver has limits of bytes, but an empty span has two bytes, and 230 in memory: eight
// requests of 4 kB (4 MiB decompressed) ended a collector with 1 GiB. No setting of the receiver
// limits decoded sizes, concurrent requests or connections, and a processor sees a message only
// when it is decoded. Middlewares of the receiver's servers run before that:
//
//	config.go   options
//	limiter.go  the budget of all servers that use the extension, and what a message needs
//	http.go     middleware of HTTP servers
//	grpc.go     middleware of gRPC servers
//
// The sizes are in internal/profiles/otlpsize, the budget in internal/collector/httpbody. Clients
// share it by address.
package otlplimitextension
