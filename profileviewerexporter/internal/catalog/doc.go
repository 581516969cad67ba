// SPDX-License-Identifier: Apache-2.0

// Package catalog lists the profiles, traces, services and releases in the store.
package catalog
