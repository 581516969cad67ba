// SPDX-License-Identifier: Apache-2.0

// Package catalog lists the profiles, traces and services in the store.
package catalog
