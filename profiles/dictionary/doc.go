// SPDX-License-Identifier: Apache-2.0

// Package dictionary writes and reads the tables that the profiles of an OTLP message share. It
// depends only on pdata, not on components, transports or source formats. Package conformance,
// beside it, checks messages.
//
// # Stability
//
// OTLP profiles and the pdata package pprofile are in development; pprofile appears in most
// signatures here. The major version is therefore 0: a minor version may change any exported name,
// and the changelog lists such changes. The following parts change only if pprofile or the protocol
// requires it:
//
//   - [Builder] with the types of its arguments: the indices, [Function], [Mapping], [Location],
//     [Line] and [Value], and [SetAttributes], [SetValueType]
//   - [View] and [Attribute]
//   - [Compact]
//   - conformance.Check, the fields of its violations, and the names of rules
//
// All other parts may change in each version, including the details of violations. Packages below
// internal are not available to other modules.
//
// # Values and units
//
// Times are nanoseconds, as in the protocol; a profile lasts from its time up to but not including
// time plus duration. Lines and columns are 1-based, 0 when unknown. Units of attributes are UCUM
// units, and part of the identity of an attribute. Samples have one of three forms, see [Shape].
//
// # Errors
//
// Incoming messages may contain anything. No function that reads or copies them panics or fails:
// [View] reports broken references, [Integrity] finds the profiles with such references, and
// [Copier] and [Compact] replace them by "none". Text that is not UTF-8 is repaired by [Builder],
// because protobuf decoders would otherwise reject the message. Functions panic only if the caller
// made a mistake: [Builder.Reset] if the dictionary has entries, [Editor.SetFunction] if the index
// is outside the table.
//
// # The seven tables
//
// A pprofile.Profiles has one ProfilesDictionary. It stores repeated data once; other data refers
// to it by position:
//
//	Sample ──▶ Stack ──▶ Location ──▶ Function ──▶ String
//	  │                    │  │                      ▲
//	  │                    │  └──▶ Mapping ──────────┤ (file name)
//	  ├──▶ Link            │          │              │
//	  └──▶ Attribute ◀─────┴──────────┘              │
//	           └──────────── key, unit ──────────────┘
//
// Attribute values are in the attribute table; only keys and units are in the string table. A stack
// lists its locations leaf first. A location with several lines is a machine address with inlined
// calls; the last line is the outermost caller.
//
// # Entry 0
//
// The first entry of every table must exist and must be the zero value: "" for strings, no frames
// for stacks, and so on. It means "none": stack 0 is an idle sample, link 0 is no span, mapping 0
// is no binary. Without it, the first real entry would be read as "none" (collector issue 15897).
// [NewBuilder] therefore writes these entries first, and [View] treats index 0 as absent,
// regardless of the entry in an incoming message.
//
// # Why not the pprofile.Set* helpers
//
// pprofile.SetString and similar helpers search the table from the start for every insertion. Ten
// thousand strings of the same length take 0.9 s, and a hundred thousand take 48 s; with a map, it
// is 20 ms. The helpers also never write entry 0. [Builder] finds entries by hash and compares them
// exactly. A hash alone never identifies an entry, because two stacks with the same hash would
// silently become one.
//
// # Files
//
//	index.go      the typed positions; an index of one table cannot refer to another
//	builder.go    Builder: writes strings, functions, mappings, locations, links, stacks
//	attribute.go  Builder: attributes and their values
//	view.go       View: reads a message that may be broken
//	editor.go     Editor: adds to an existing message, before Compact
//	links.go      Links: finds and adds links in an existing message
//	copier.go     Copier: copies entries into a Builder
//	compact.go    Compact: a new dictionary without orphans and duplicates
//	merge.go      Compact: merges equal samples
//	join.go       Join and Separate: several messages as one, and back
//	shape.go      whether samples have values, timestamps or both
//	integrity.go  Integrity: whether all references of a profile are valid
//	hashindex.go  the hash table of the Builder, one per table
//	arena.go      many strings in few allocations
package dictionary
