// SPDX-License-Identifier: Apache-2.0

// Package exceptions writes names, files and lines from symbol files into the exceptions of log
// records and span events.
//
// # Attributes
//
// Package exception states which attributes have an exception, and where the names go. With lists,
// the texts are written anew from them. Without lists, the text is read as that of a JavaScript
// engine or of Java. A frame that R8 shares between methods has an empty list of functions.
// symbolication.status is ok if at least one frame was symbolicated. Other exceptions stay
// unchanged.
//
// # Positions in exceptions
//
// The line and column of a frame are the position of the code that was running, or of the call. A
// native frame has an address in one of the images of the event: the innermost frame that of an
// instruction, others a return address. An address that is relative to an image (addr_mode, as in
// .NET) is not looked up. Minified JavaScript type names are not changed.
//
// The frames of a call tree (parent_index, MetricKit) keep their positions; in the text, inlined
// functions are further nodes of the tree.
package exceptions
