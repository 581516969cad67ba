// SPDX-License-Identifier: Apache-2.0

// Package envelopescrub removes personal data from envelopes for bug reports. The result has the
// shape of the original, byte for byte: texts are overwritten in place and keep their length, so
// that framing, types, sizes, IDs and times remain. The receiver treats the result like the
// original.
//
// The rules for secrets are those of package scrub: this package states which attribute each member
// of an item is (places.go). In addition, it masks members that describe a person, a machine or an
// application's own source code and data.
//
//	envelope.go  headers and items
//	places.go    members of items → attributes, personal members
//	document.go  JSON with the positions of its values
//	mask.go      overwrites values
package envelopescrub
