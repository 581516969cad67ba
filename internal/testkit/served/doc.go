// SPDX-License-Identifier: Apache-2.0

// Package served asks package registries whether versions that the project names are still the best
// ones. A newer version is no fault of the project: a test that finds one is skipped, and the list
// of skipped tests at the end of `make test` and of CI has its message.
package served
