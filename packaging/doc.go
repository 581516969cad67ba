// SPDX-License-Identifier: Apache-2.0

// Package packaging has only tests: they check manifests with the tools that use them.
package packaging
