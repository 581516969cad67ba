// SPDX-License-Identifier: Apache-2.0

// Package packaging installs, runs and purges the Debian package, with systemd in a container where
// possible.
package packaging
