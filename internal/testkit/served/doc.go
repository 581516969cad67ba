// SPDX-License-Identifier: Apache-2.0

// Package served asks package registries whether the versions that the project uses are still the
// best ones. A newer version is not a failure of the project: a test that finds one is skipped, and
// its message is in the list of skipped tests at the end of `make test` and of CI.
package served
