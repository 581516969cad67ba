// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
)

// store keeps the messages that wait in a storage extension, each under a number of its own in the order of arrival, and the
// range of these numbers; and under another key for how long a message has been refused, so that a restart does not forgive it. Of who
// sent a message it keeps the metadata, not address and authentication.
type store struct {
	client storage.Client

	mu      sync.Mutex
	present []uint64 // ascending
	next    uint64
}

const keyRange = "range"

// openStore opens the storage of a processor.
func openStore(ctx context.Context, host component.Host, extension, processor component.ID) (*store, error) {
	found, ok := host.GetExtensions()[extension]
	if !ok {
		return nil, fmt.Errorf("storage: there is no extension %q; define it under extensions and list it under service::extensions", extension)
	}
	opener, ok := found.(storage.Extension)
	if !ok {
		return nil, fmt.Errorf("storage: the extension %q is no storage; name one such as file_storage", extension)
	}
	c, err := opener.GetClient(ctx, component.KindProcessor, processor, "profiles")
	if err != nil {
		return nil, fmt.Errorf("storage: cannot open %q: %w", extension, err)
	}
	return &store{client: c, next: 1}, nil
}

// close may be called without a store.
func (s *store) close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	return s.client.Close(ctx)
}

// put stores a message, which gets a key by that.
func (s *store) put(ctx context.Context, h *held) error {
	value, err := encodeHeld(h)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	number := s.next
	first := number
	if len(s.present) > 0 {
		first = s.present[0]
	}
	bounds := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, first), number+1)
	err = s.client.Batch(ctx, storage.SetOperation(keyOf(number), collector.AppendChecksum(value)), storage.SetOperation(keyRange, collector.AppendChecksum(bounds)))
	if err != nil {
		return err
	}
	s.next = number + 1
	s.present = append(s.present, number)
	h.key = number
	return nil
}

// putRetries stores how often a message was refused.
func (s *store) putRetries(ctx context.Context, h *held) error {
	value := binary.BigEndian.AppendUint64([]byte{formatVersion}, uint64(h.retries.elapsed))
	value = binary.BigEndian.AppendUint32(value, uint32(h.retries.refusals))
	return s.client.Set(ctx, retriesKeyOf(h.key), collector.AppendChecksum(value))
}

// loadRetries reads what putRetries stored. Without it, or if it is damaged, the retries of a message begin anew.
func (s *store) loadRetries(ctx context.Context, number uint64) retries {
	sealed, err := s.client.Get(ctx, retriesKeyOf(number))
	if err != nil || sealed == nil {
		return retries{}
	}
	value, err := collector.VerifyChecksum(sealed)
	if err != nil || len(value) != 1+8+4 || value[0] != formatVersion {
		return retries{}
	}
	return retries{
		suspect:  true,
		elapsed:  time.Duration(binary.BigEndian.Uint64(value[1:])),
		refusals: int(binary.BigEndian.Uint32(value[9:])),
	}
}

// remove forgets a message that was handed on.
func (s *store) remove(ctx context.Context, h *held) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.present, h.key); i >= 0 {
		s.present = slices.Delete(s.present, i, i+1)
	}
	deletions := []*storage.Operation{storage.DeleteOperation(keyOf(h.key))}
	if h.retriesStored {
		deletions = append(deletions, storage.DeleteOperation(retriesKeyOf(h.key)))
	}
	return s.client.Batch(ctx, deletions...)
}

// load gives the messages of the run before, which begin to wait anew: the spans that had come until then are lost. Those that
// cannot be read are in broken. Without the range nothing may be put, as it would replace what is there: that is the error.
func (s *store) load(ctx context.Context) (all []*held, broken []error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, err := s.client.Get(ctx, keyRange)
	if err != nil {
		return nil, nil, fmt.Errorf("storage: cannot read what waited when the collector ended: %w", err)
	}
	if value == nil {
		return nil, nil, nil
	}
	bounds, err := collector.VerifyChecksum(value)
	if err != nil || len(bounds) != 16 { // what waited cannot be found, and is written over
		return nil, []error{fmt.Errorf("range: %w", cmp.Or(err, collector.ErrDamaged))}, nil
	}
	first := binary.BigEndian.Uint64(bounds)
	s.next = binary.BigEndian.Uint64(bounds[8:])
	for number := first; number < s.next; number++ {
		value, err := s.client.Get(ctx, keyOf(number))
		if err != nil {
			broken = append(broken, fmt.Errorf("message %d: %w", number, err))
			s.present = append(s.present, number) // for the next start
			continue
		}
		if value == nil {
			continue // was handed on
		}
		h, err := openHeld(value)
		if errors.Is(err, errNewerFormat) {
			broken = append(broken, fmt.Errorf("message %d: %w", number, err))
			s.present = append(s.present, number) // for the collector that wrote it
			continue
		}
		if err != nil {
			broken = append(broken, fmt.Errorf("message %d: %w", number, errors.Join(err, s.client.Delete(ctx, keyOf(number)))))
			continue
		}
		h.key, h.retries = number, s.loadRetries(ctx, number)
		h.retriesStored = h.retries.suspect
		s.present = append(s.present, number)
		all = append(all, h)
	}
	return all, broken, nil
}

func keyOf(number uint64) string        { return strconv.FormatUint(number, 10) }
func retriesKeyOf(number uint64) string { return keyOf(number) + ".retries" }

// formatVersion is the first byte of what is stored. Messages of version 0 had no version: they begin with the first byte of a length
// that is below 16 MiB.
const formatVersion = 1

// errNewerFormat is of a message that a later version of the collector stored. It stays in the storage.
var errNewerFormat = fmt.Errorf("has a newer format than this collector can read, which is version %d", formatVersion)

// encodeHeld writes the version of the format, the length of the metadata, the metadata as JSON, the message as OTLP.
func encodeHeld(h *held) ([]byte, error) {
	metadata := map[string][]string{}
	for key := range h.client.Metadata.Keys() {
		metadata[key] = h.client.Metadata.Get(key)
	}
	head, err := json.Marshal(metadata)
	if err != nil {
		return nil, err
	}
	copied := pprofile.NewProfiles() // marshalling moves texts of the resource into the dictionary
	h.parts[0].CopyTo(copied)
	body, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(copied)
	if err != nil {
		return nil, err
	}
	value := append(make([]byte, 0, 1+4+len(head)+len(body)), formatVersion)
	value = binary.BigEndian.AppendUint32(value, uint32(len(head)))
	return append(append(value, head...), body...), nil
}

// openHeld reads what put stored.
func openHeld(sealed []byte) (*held, error) {
	value, err := collector.VerifyChecksum(sealed)
	if err != nil {
		return nil, err
	}
	return decodeHeld(value)
}

func decodeHeld(value []byte) (*held, error) {
	if len(value) > 0 && value[0] > formatVersion {
		return nil, errNewerFormat
	}
	if len(value) > 0 && value[0] == formatVersion {
		value = value[1:]
	}
	if len(value) < 4 || uint32(len(value)-4) < binary.BigEndian.Uint32(value) {
		return nil, errors.New("is cut off")
	}
	head, body := value[4:4+binary.BigEndian.Uint32(value)], value[4+binary.BigEndian.Uint32(value):]
	metadata := map[string][]string{}
	if err := json.Unmarshal(head, &metadata); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	profiles, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(body)
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	h := &held{parts: []pprofile.Profiles{profiles}, arrived: time.Now(), bytes: int64(len(body))}
	h.client.Metadata = client.NewMetadata(metadata)
	return h, nil
}
