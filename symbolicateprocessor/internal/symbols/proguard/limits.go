// SPDX-License-Identifier: Apache-2.0

package proguard

const (
	// maxLine bounds a line. The longest lines of R8 are the annotations of outlines, with a few
	// hundred numbers.
	maxLine = 1 << 20

	// maxEncoded bounds each part of a mapping, because refs have 32 bits. The largest mappings in
	// use have 100 MB of text, and need a quarter of it.
	maxEncoded = 1 << 30

	// maxMembers bounds the lines with one obfuscated name in a class, which are in memory at a
	// time. The largest methods have a few thousand.
	maxMembers = 1 << 16

	// maxClassMembers bounds the members of a class, which are sorted in memory. The JVM permits
	// 65,535 methods per class.
	maxClassMembers = 1 << 20

	// maxName bounds the names of classes and methods, and maxChain the functions at a place,
	// because many places can share them: the result of a lookup is larger than the place. File
	// systems limit a part of a class name to 255 bytes; compilers inline about ten functions into
	// each other.
	maxName  = 2048
	maxChain = 64

	// maxNumber bounds line numbers. The JVM's have 16 bits.
	maxNumber = 1<<31 - 1
)
