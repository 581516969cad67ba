// SPDX-License-Identifier: Apache-2.0

// Package browser tests the viewer's page and the browser SDK in Chromium: `make browser`.
package browser
