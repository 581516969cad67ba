// Package profiletransformprocessor is a collector processor (component type "profile_transform") that links samples of
// profiles to spans and reshapes profiles for the backend they go to.
//
// The package is a shell: configuration, lifecycle, what waits and what is counted.
//
//	processor.go   profiles: taken, reshaped, handed on
//	traces.go      traces: handed on as they are
//	transforms.go  which steps reshape a profile
//	telemetry.go   what is counted
package profiletransformprocessor
