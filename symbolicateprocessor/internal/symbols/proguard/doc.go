// SPDX-License-Identifier: Apache-2.0

// Package proguard reads the mapping files of ProGuard and R8, and finds the original functions of
// a place in an obfuscated JVM or Android program.
//
// A mapping lists, per class, the members with their obfuscated names:
//
//	com.example.Cart -> a.b:                               a class, from here to the next line without indentation
//	# {"id":"sourceFile","fileName":"Cart.kt"}             an annotation of the line before
//	    int count -> a                                     a field, ignored
//	    1:4:int total(java.util.List):17:20 -> a           lines 1 to 4 of a.b.a are lines 17 to 20 of total
//	    5:5:int com.example.Item.price():9:9 -> a          consecutive members with the same lines are a chain of inlined functions:
//	    5:5:int total(java.util.List):22 -> a              price was inlined into line 22 of total
//	    void clear() -> a                                  an overload without line numbers
//
// Chains are alternatives: a line selects among those with line numbers, a signature among
// overloads. The functions that all remaining alternatives agree on, counted from the caller, are
// the result; if they agree on none, the place is ambiguous.
//
// The grammar is that of R8's doc/retrace.md. TestOracleSymbolic compares the result with Sentry's
// library (PyPI symbolic), TestOracleRetrace with R8's retrace. These differences are intended:
//
//   - Several alternatives remain: Sentry's library returns all of them as if they were one chain,
//     and retrace lists them. This package returns the common part.
//   - A line outside of all ranges: Sentry's library returns nothing, and retrace the class with
//     the obfuscated name of the method. This package returns the function without a line if all
//     alternatives agree on it.
//   - Members without lines, or with lines 0:0: remap_method of Sentry's library ignores them if
//     others have lines. This package does not.
//   - R8 merged classes, so that alternatives with the same method are of different classes:
//     remap_method returns that of the section. For this package, the place is ambiguous.
//   - No line, but all alternatives have ranges: Sentry's library returns nothing, and retrace the
//     first range.
//   - Sentry's library reports functions that the compiler synthesized. This package and retrace
//     leave them out; for mappings of older R8, retrace leaves out only the lines that are
//     annotated.
//   - The original range is longer than the obfuscated one: Sentry's library keeps counting lines.
//     This package and retrace do not.
//   - The mapping has the function without lines, so the compiler kept the lines: Sentry's library
//     (13.9) returns line 0.
//   - Retrace leaves out the caller of some chains without annotation; this package and Sentry's
//     library do not.
//   - A class without annotation: Sentry's library (13.9) returns no file. This package and
//     retrace derive the file from the outer class. Retrace takes the extension from the obfuscated
//     file, this package from the class of the section.
package proguard
