// SPDX-License-Identifier: Apache-2.0

// Package discard describes unusable data: an [Error] for an item, a [Loss] for elements, a [Flaw]
// for fields. Errors and losses have a stable [Reason].
package discard
