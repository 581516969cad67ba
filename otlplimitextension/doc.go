// SPDX-License-Identifier: Apache-2.0

// Package otlplimitextension is a collector extension (component type "otlp_limit") that limits the
// memory of requests to the collector's OTLP receiver.
//
// The receiver limits encoded sizes, but an empty span of two bytes uses 230 bytes in memory: eight
// requests of 4 kB (4 MiB decompressed) ended a collector with 1 GiB. No setting of the receiver
// limits decoded sizes, concurrent requests or connections, and processors see a message only after
// it is decoded. Middlewares of the receiver's servers run before that:
//
//	config.go   options
//	limiter.go  the budget of all servers that use the extension, and the memory of a message
//	http.go     middleware of HTTP servers
//	grpc.go     middleware of gRPC servers
//
// Package internal/profiles/otlpsize estimates sizes, and internal/collector/httpbody implements
// the budget, which clients share by address.
package otlplimitextension
