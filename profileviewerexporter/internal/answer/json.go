// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// JSON encodes a response. It does not escape <, which would take six bytes. The content type,
// nosniff and the content security policy prevent interpretation as HTML.
func JSON(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	if b.Len() > MaxResponse {
		return nil, fmt.Errorf("the response has %d bytes, more than %d: this is a bug in the exporter", b.Len(), MaxResponse)
	}
	return b.Bytes(), nil
}
