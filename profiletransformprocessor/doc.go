// SPDX-License-Identifier: Apache-2.0

// Package profiletransformprocessor is a collector processor (component type "profile_transform")
// that links profile samples to spans and reshapes profiles for their backend.
//
// The package decides which profiles wait, and for how long. internal/profiles/spanlink links
// profiles, and internal/profiles/transform reshapes them.
//
//	processor.go   profiles: consume, link, reshape, forward
//	enqueue.go     holds profiles that wait for their spans
//	queue.go       the queue of held profiles; schedule.go its heaps, retry.go its retries
//	tenant.go      the tenant of a message; shares of the queue
//	batch.go       joins held messages of one tenant
//	storage.go     the copy of the queue that survives a crash
//	traces.go      traces: index and forward
//	linking.go     the index that both pipelines share
//	transforms.go  the configured transforms
//	telemetry.go   metrics
package profiletransformprocessor
