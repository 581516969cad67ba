// SPDX-License-Identifier: Apache-2.0

// Package packaging installs, runs and purges the Debian package, with systemd in a container where
// possible, installs the RPM package, and starts the container image.
package packaging
