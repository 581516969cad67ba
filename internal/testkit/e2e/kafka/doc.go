// SPDX-License-Identifier: Apache-2.0

// Package kafka runs examples/kafka against a real broker: `make kafka`.
package kafka
