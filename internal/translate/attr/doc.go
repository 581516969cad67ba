// SPDX-License-Identifier: Apache-2.0

// Package attr holds what all directions of the translation share: values and attributes, units, ids, times, limits of texts, and the
// tables that a direction and its inverse both read.
package attr
