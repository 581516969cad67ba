// SPDX-License-Identifier: Apache-2.0

// Package discard says why items and parts of items cannot be used: an [Error] for an item, a [Loss] for elements, a [Flaw] for fields,
// each with a stable [Reason].
package discard
