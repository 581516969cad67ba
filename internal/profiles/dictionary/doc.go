// SPDX-License-Identifier: Apache-2.0

// Package dictionary writes and reads the tables that the profiles of an OTLP message share. It
// depends only on pprofile, not on components, transports or source formats.
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
//	canonical.go  an exact encoding of any attribute value
//	hashindex.go  the hash table of the Builder, one per table
//	arena.go      many strings in few allocations
//
// Package internal/profiles/conformance checks messages; internal/testkit/dictionarytest prints and
// compares them in tests.
package dictionary
