// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"strings"

	"github.com/google/uuid"
)

// Blob is the content of an attachment in a batch, as SDKs before 2025-10 send it.
type Blob struct {
	ID      ID
	Name    string // as sent
	Content []byte
}

const blobPrefix = "blob-"

// partBytes is the memory of a Blob without its content.
const partBytes = 128

// DecodeMultipart reads a batch from the parts of a form: "event" and "span" with one JSON object
// each, and files named "blob-" and the ID of the attachment. It reads part by part, because the
// standard library's forms stop at 1000 parts. reserve is the same as for DecodeJSON and also
// accounts for files.
func DecodeMultipart(body []byte, boundary string, reserve func(bytes int64) error) (*Batch, []Blob, error) {
	b := &Batch{reserve: reserve}
	var blobs []Blob
	parts := multipart.NewReader(bytes.NewReader(body), boundary)
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if n == maxParts {
			return nil, nil, fmt.Errorf("more than %d parts", maxParts)
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, nil, err
		}
		if err := b.spend(partBytes + int64(len(content))); err != nil {
			return nil, nil, err
		}
		switch name := part.FormName(); {
		case name == "event" && len(content) == 0, name == "span" && len(content) == 0:
			return nil, nil, fmt.Errorf("any %s field must not be empty", name)
		case name == "event":
			err = b.addEvent(content)
		case name == "span":
			err = b.addSpan(content)
		case strings.HasPrefix(name, blobPrefix):
			id, err := uuid.Parse(strings.TrimPrefix(name, blobPrefix))
			if err != nil {
				return nil, nil, errors.New("the name of a blob must end with the attachment's id")
			}
			blobs = append(blobs, Blob{ID{UUID: id}, part.FileName(), content})
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if b.items == 0 {
		return nil, nil, errEmpty
	}
	return b, blobs, nil
}
