// SPDX-License-Identifier: Apache-2.0

// Package dictionary writes, reads, prints and checks the tables that an
// OTLP profiles message shares between all its profiles. It speaks
// pprofile and nothing else: no component, no transport, no source format.
//
// # The seven tables
//
// A pprofile.Profiles holds one ProfilesDictionary. Everything repeated is
// stored there once and named elsewhere by its position:
//
//	Sample ──▶ Stack ──▶ Location ──▶ Function ──▶ String
//	  │                    │  │                      ▲
//	  │                    │  └──▶ Mapping ──────────┤ (file name)
//	  ├──▶ Link            │          │              │
//	  └──▶ Attribute ◀─────┴──────────┘              │
//	           └──────────── key, unit ──────────────┘
//
// Attribute values stay inside the attribute table; only keys and units are
// strings of the string table. A stack lists its locations leaf first. A
// location with several lines is one machine address whose calls were
// inlined: the last line is the caller of those before it.
//
// # Entry 0
//
// The first entry of every table must be there and must be the zero value:
// "" for strings, no frames for stacks, and so on. It is how a record says
// "none": stack 0 is an idle sample, link 0 is no span, mapping 0 is no
// binary. A message without these entries gives real data the meaning of
// "none" (collector issue 15897), so [NewBuilder] writes them before
// anything else, and [View] answers "absent" when an incoming message
// lacks them.
//
// # Why not the pprofile.Set* helpers
//
// pprofile.SetString and its siblings search the table from the start for
// every insertion. Ten thousand strings of one length take 0.9 s, a hundred
// thousand 48 s; a map of the same strings takes 20 ms. They also never
// write entry 0. [Builder] finds every entry by hash and verifies it
// exactly; a hash alone is never identity, because two stacks that collide
// would silently become one.
//
// # What is where
//
//	index.go      the typed positions; an index of one table cannot name another
//	builder.go    Builder: writes strings, functions, mappings, locations, links, stacks
//	attribute.go  Builder: attributes and their values
//	view.go       View: reads a message that may be broken
//	editor.go     Editor: adds to a message that exists, before Compact
//	links.go      Links: finds and adds links in a message that exists
//	copier.go     Copier: carries entries over into a Builder
//	compact.go    Compact: a new dictionary without orphans and duplicates
//	merge.go      Compact: one sample of those that are the same
//	sound.go      Sound: which profiles can be read to the end
//	check.go      Check: is this a valid message? rule.go lists the rules
//	dump.go       Dump: a message as text for people
//	compare.go    Diff: do two messages say the same?
//	canonical.go  one exact encoding of any attribute value
//	hashindex.go  the hash table underneath the Builder, shared by all seven
//	arena.go      many strings in few allocations
//
// The directory dictionarytest has the check on the encoded bytes, against
// types generated from the protocol definition.
package dictionary
