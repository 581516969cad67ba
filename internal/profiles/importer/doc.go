// SPDX-License-Identifier: Apache-2.0

// Package importer builds OTLP profiles from the profile files of other tools. The readers of the
// formats are the packages beside it; each has a function
//
//	Read(data []byte, o importer.Options) (pprofile.Profiles, []importer.Loss, error)
//
// # Shapes
//
//	Counts  samples are observations at instants; the period is the nominal interval
//	Values  samples are several observations at instants, as many as the value states
//	Times   samples last a time; the value is their duration
//	Totals  values without times: bytes, counts
//
// # Limits
//
// Files have stacks as trees: a node names its caller. OTLP repeats the callers of every stack, so
// a file with one deep stack that has many leaves would grow without bounds. Stacks are therefore
// cut at MaxDepth frames from the root, and samples are dropped after MaxStackFrames frames of all
// stacks. Both are counted as losses.
package importer
