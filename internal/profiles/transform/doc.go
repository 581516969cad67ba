// SPDX-License-Identifier: Apache-2.0

// Package transform reshapes OTLP profiles for where they go: less detail, fewer labels, smaller messages. Its steps are
// pure functions over one pprofile.Profiles; they know pdata and internal/profiles/dictionary, no component and no source format.
// Names of attributes that Sentry's profiles carry are the only thing that is Sentry's here, and all are optional.
//
// # Flow
//
//	Apply: broken profiles out ──▶ step ──▶ step ──▶ … ──▶ dictionary.Compact ──▶ split, if asked for
//
// A step changes samples and adds to tables in place. It may leave orphans and duplicates: the one Compact at the end makes a
// valid dictionary again, and one sample of those that became the same. Only split comes after that, because it needs the
// sizes.
//
// # What is kept and what is lost
//
// Every step says in its comment what it drops. An observation is a timestamp, or a value where a sample has no timestamps.
// Observations that are dropped are counted by reason: see [Losses]. A profile of which nothing is left goes too, with its
// attributes. Whatever the steps are, the original payload is cleared with its format, as it would tell what was dropped.
//
// # Bounds
//
// Each text of a message is matched, replaced and copied once, however many entries refer to it. The output of a step is at most a few
// times the message: resource_to_samples adds an index per sample and key, frames repeats the attributes of a location for its parts,
// up to a limit for each location and a million frames in all. Only split repeats what profiles share; what it builds is at most 16
// times the message, the last part and the rest, and 4 MiB.
//
// # Broken input
//
// A profile that refers to something outside the tables cannot be reshaped, and passing it on would break the promise of a
// step like scrub. It is dropped and counted; its neighbours are not affected. A sample whose numbers of values and timestamps
// do not match says nothing certain and is dropped, too.
package transform
