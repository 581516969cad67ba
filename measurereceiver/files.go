// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

var errOverwrite = errors.New("another file is stored under that name")

// attachmentName returns the file name of an attachment. The name contains no text from clients.
func attachmentName(a *app, id uuid.UUID, day time.Time) string {
	return fmt.Sprintf("%s/%s/%s", a.folder, day.UTC().Format(time.DateOnly), id)
}
