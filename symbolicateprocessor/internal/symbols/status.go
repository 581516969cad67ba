// SPDX-License-Identifier: Apache-2.0

package symbols

// Status is the result of looking up a frame. It is the value of the attribute
// symbolication.status, and of status in metrics.
type Status string

const (
	OK          Status = "ok"
	MissingFile Status = "missing_file" // no symbol file has the ID or the path
	Pending     Status = "pending"      // the file is being indexed; later messages get names
	NoSymbol    Status = "no_symbol"    // the file says nothing about the place
	Ambiguous   Status = "ambiguous"    // several functions match the position
	Limit       Status = "limit"        // the message would exceed its size limit with the original names, or has too many frames for its size
	Error       Status = "error"        // the file cannot be read
)
