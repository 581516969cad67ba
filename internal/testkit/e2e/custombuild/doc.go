// SPDX-License-Identifier: Apache-2.0

// Package custombuild uses this repository as other projects do: as a version of a module, from a
// module proxy.
package custombuild
