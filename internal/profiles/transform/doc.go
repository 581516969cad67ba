// SPDX-License-Identifier: Apache-2.0

// Package transform reshapes OTLP profiles for the backends that receive them: less detail, fewer
// labels, smaller messages. Its steps are pure functions over one pprofile.Profiles. They do not
// depend on any component or source format; only the names of some optional attributes are specific
// to Sentry.
//
// # Flow
//
//	Apply: drop broken profiles ──▶ step ──▶ step ──▶ … ──▶ dictionary.Compact ──▶ split, if configured
//
// A step changes samples and extends tables in place. It may leave unreferenced and duplicate
// entries: a single Compact at the end makes the dictionary valid again and merges samples that
// have become equal. Only split runs later, because it needs the final sizes.
//
// # Losses
//
// The comment of each step states what it drops. An observation is a timestamp, or a value if a
// sample has no timestamps. Dropped observations are counted by reason, see [Losses]. Empty
// profiles are dropped with their attributes. Every transform clears the original payload and its
// format, because the payload would disclose dropped data.
//
// # Bounds
//
// Each text of a message is matched, replaced and copied once, regardless of how many entries refer
// to it. The output of a step is at most a few times as large as the message: resource_to_samples
// adds an index per sample and key; frames repeats the attributes of a location for its parts, up
// to a limit per location and a million frames in total. Only split repeats shared data; its parts
// have at most 16 times the size of the message, plus the last part, the rest and 4 MiB.
//
// # Broken input
//
// A profile with an invalid reference cannot be reshaped. Forwarding it unchanged would break the
// guarantee of a step such as scrub, so it is dropped and counted; other profiles are not affected.
// A sample whose numbers of values and timestamps differ is ambiguous and is dropped as well.
package transform
