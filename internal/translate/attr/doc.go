// SPDX-License-Identifier: Apache-2.0

// Package attr contains the code that all directions of the translation share: values and
// attributes, units, IDs, times, text limits, and the tables that a direction and its inverse both
// read.
package attr
