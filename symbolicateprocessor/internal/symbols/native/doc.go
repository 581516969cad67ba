// SPDX-License-Identifier: Apache-2.0

// Package native reads the symbols of native programs and finds the functions of an address.
//
//	Identify    the objects of a file: an ELF file, the architectures of a Mach-O file, a Breakpad symbol file
//	Index       an object → a table, sorted by address, written once
//	Open        the table, read with ReadAt: a lookup needs a few kilobytes of memory, and no demangling
//
// The names of an object come from, in this order: DWARF with inlined functions; the symbol tables
// (.symtab, .dynsym, LC_SYMTAB, .gnu_debugdata); the function table of Go programs (.gopclntab),
// which is in stripped ones too. DWARF wins where both know an address.
//
// Addresses are those of the object, as the linker assigned them: Table.Address converts offsets.
//
// Files are hostile. Index counts steps and claims memory with a symbols.Work, within Limits; no
// number in a file decides about an allocation.
//
// Not read: split DWARF (.dwo), files that dwz made (.gnu_debugaltlink), PE and PDB, 32-bit Mach-O,
// and inlined functions of .gopclntab.
package native
