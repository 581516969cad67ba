// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// Item is the JSON of an item other than a profile.
type Item struct {
	Name     string
	Type     sentry.ItemType
	JSON     []byte
	Elements int // number of spans or log records
}

// MB returns the size in millions of bytes.
func (i Item) MB() float64 { return float64(len(i.JSON)) / 1e6 }

// elements is the approximate number of elements in an item: the maximum number of spans in a
// transaction or container.
const elements = 1000

// Items returns a transaction, a container of spans and a container of log records. They are
// recordings from testdata/cases, with their spans or records repeated, each with its own ID.
func Items() ([]Item, error) {
	var all []Item
	for _, from := range []struct {
		name, folder string
		itemType     sentry.ItemType
		list         string // field with the list to repeat
	}{
		{"transaction", "transaction-python", sentry.ItemTransaction, "spans"},
		{"spans", "spans-browser", sentry.ItemSpan, "items"},
		{"logs", "logs-python", sentry.ItemLog, "items"},
	} {
		payload, err := casePayload(from.folder, from.itemType)
		if err != nil {
			return nil, fmt.Errorf("cannot read the case %s: %w", from.folder, err)
		}
		item := Item{Name: from.name, Type: from.itemType}
		if item.JSON, item.Elements, err = repeat(payload, from.list); err != nil {
			return nil, fmt.Errorf("cannot repeat the %s of the case %s: %w", from.list, from.folder, err)
		}
		all = append(all, item)
	}
	return all, nil
}

// Events returns error events of recorded requests, of four SDKs.
func Events() (all []Item, err error) {
	for _, name := range []string{"event-python", "event-java", "event-go", "event-node-locals"} {
		payload, err := casePayload(name, sentry.ItemEvent)
		if err != nil {
			return nil, fmt.Errorf("cannot read the case %s: %w", name, err)
		}
		all = append(all, Item{Name: name, Type: sentry.ItemEvent, JSON: payload, Elements: 1})
	}
	return all, nil
}

func casePayload(folder string, itemType sentry.ItemType) ([]byte, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	body, err := os.ReadFile(filepath.Join(root, "testdata", "cases", folder, "in.envelope"))
	if err != nil {
		return nil, err
	}
	envelope, err := sentry.ReadEnvelope(body)
	if err != nil {
		return nil, err
	}
	for _, item := range envelope.Items {
		if item.Header.Type == itemType {
			return item.Payload, nil
		}
	}
	return nil, fmt.Errorf("no %s in it", itemType)
}

// repeat makes a list of the payload longer. The other bytes stay unchanged.
func repeat(payload []byte, list string) (longer []byte, n int, err error) {
	var fields map[string]json.RawMessage
	var once, all []json.RawMessage
	if err := json.Unmarshal(payload, &fields); err != nil {
		return nil, 0, err
	}
	if err := json.Unmarshal(fields[list], &once); err != nil {
		return nil, 0, err
	}
	for len(all) < elements {
		for _, element := range once {
			all = append(all, withID(element, len(all)+1))
		}
	}
	if fields[list], err = json.Marshal(all); err != nil {
		return nil, 0, err
	}
	longer, err = json.Marshal(fields)
	return longer, len(all), err
}

// withID replaces the ID of a span. Log records of Python have none.
func withID(element []byte, id int) json.RawMessage {
	const key = `"span_id":"`
	at := bytes.Index(element, []byte(key))
	if at < 0 || element[max(0, at-1)] == '_' {
		return element
	}
	changed := bytes.Clone(element)
	copy(changed[at+len(key):], fmt.Sprintf("%016x", id))
	return changed
}
