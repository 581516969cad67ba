// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// ticket is the content of the URL of an upload: the permission, and a description of the file for
// the case that its event is no longer known. Android's job for large files limits the length of
// URLs; a ticket has 82 bytes.
type ticket struct {
	id       uuid.UUID // in the path
	expires  time.Time
	fileType measure.FileType
	app      appID
	session  uuid.UUID
	event    uuid.UUID
}

const (
	ticketSize = 4 + 1 + 8 + 16 + 16
	macSize    = 16
)

func (t ticket) payload() []byte {
	b := make([]byte, 0, ticketSize)
	b = binary.BigEndian.AppendUint32(b, uint32(t.expires.Unix()))
	b = append(b, t.fileType.Number())
	b = append(b, t.app[:]...)
	b = append(b, t.session[:]...)
	return append(b, t.event[:]...)
}

// token returns a signed ticket.
func (t ticket) token(secret []byte) string {
	payload := t.payload()
	return base64.RawURLEncoding.EncodeToString(append(payload, sign(secret, payload, t.id)...))
}

func sign(secret, payload []byte, id uuid.UUID) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(payload)
	mac.Write(id[:])
	return mac.Sum(nil)[:macSize]
}

// readToken returns the ticket of a token for the file with an ID. It checks signature and expiry.
func readToken(secret []byte, id uuid.UUID, token string, now time.Time) (t ticket, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(ticketSize+macSize) {
		return t, false
	}
	// Strict, so that a token has one encoding. Decoding skips line breaks all the same, so the
	// result may be too short.
	signed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(signed) != ticketSize+macSize || !hmac.Equal(sign(secret, signed[:ticketSize], id), signed[ticketSize:]) {
		return t, false
	}
	t.id = id
	t.expires = time.Unix(int64(binary.BigEndian.Uint32(signed)), 0)
	t.app, t.session, t.event = appID(signed[5:13]), uuid.UUID(signed[13:29]), uuid.UUID(signed[29:45])
	t.fileType, ok = measure.FileTypeOf(signed[4])
	return t, ok && now.Before(t.expires)
}
