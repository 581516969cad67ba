// SPDX-License-Identifier: Apache-2.0

// Package profiletransformprocessor is a collector processor (component type "profile_transform") that links samples of
// profiles to spans and reshapes profiles for the backend they go to.
//
// The package is a shell: what is linked to what, internal/profiles/spanlink knows. Here is what waits, and for how long:
//
//	processor.go   profiles: taken, linked, reshaped, handed on
//	hold.go        those that wait for spans; room.go the queue of them, storage.go the copy that outlives a crash
//	traces.go      traces: looked at and handed on
//	linking.go     what the two share
//	transforms.go  which steps reshape a profile
//	telemetry.go   what is counted
package profiletransformprocessor
