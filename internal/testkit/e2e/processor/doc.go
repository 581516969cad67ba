// SPDX-License-Identifier: Apache-2.0

// Package processor tests the profile_transform processor in the built collector.
package processor
