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
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
)

// store keeps held messages in a storage extension. The keys of messages are consecutive numbers in
// order of arrival; another key contains the range of these numbers. A second key per message
// contains how long it has been refused, so that a restart does not reset this time. The sender's
// tenant and metadata are stored, but not its address and other attributes of its authentication.
type store struct {
	client storage.Client

	mu      sync.Mutex
	present []uint64 // ascending
	next    uint64
}

const keyRange = "range"

// openStore opens the storage of a processor.
func openStore(ctx context.Context, host component.Host, extension, processor component.ID) (*store, error) {
	opener, err := collector.StorageExtension(host, extension)
	if err != nil {
		return nil, err
	}
	c, err := opener.GetClient(ctx, component.KindProcessor, processor, "profiles")
	if err != nil {
		return nil, fmt.Errorf("storage: cannot open %q: %w", extension, err)
	}
	return &store{client: c, next: 1}, nil
}

// close closes the store. It does nothing if the store is nil.
func (s *store) close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	return s.client.Close(ctx)
}

// put stores a message and sets its key.
func (s *store) put(ctx context.Context, h *heldMessage) error {
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
	h.storageKey = number
	return nil
}

// putRetries stores the retry state of a message.
func (s *store) putRetries(ctx context.Context, h *heldMessage) error {
	value := binary.BigEndian.AppendUint64([]byte{retriesVersion}, uint64(h.retries.elapsed))
	value = binary.BigEndian.AppendUint32(value, uint32(h.retries.refusals))
	return s.client.Set(ctx, retriesKeyOf(h.storageKey), collector.AppendChecksum(value))
}

// loadRetries loads the retry state of a message. If it is missing or damaged, the retries start
// over.
func (s *store) loadRetries(ctx context.Context, number uint64) retries {
	stored, err := s.client.Get(ctx, retriesKeyOf(number))
	if err != nil || stored == nil {
		return retries{}
	}
	value, err := collector.VerifyChecksum(stored)
	if err != nil || len(value) != 1+8+4 || value[0] != retriesVersion {
		return retries{}
	}
	return retries{
		suspect:  true,
		elapsed:  time.Duration(binary.BigEndian.Uint64(value[1:])),
		refusals: int(binary.BigEndian.Uint32(value[9:])),
	}
}

// remove deletes a message that was forwarded.
func (s *store) remove(ctx context.Context, h *heldMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.present, h.storageKey); i >= 0 {
		s.present = slices.Delete(s.present, i, i+1)
	}
	deletions := []*storage.Operation{storage.DeleteOperation(keyOf(h.storageKey))}
	if h.retriesStored {
		deletions = append(deletions, storage.DeleteOperation(retriesKeyOf(h.storageKey)))
	}
	return s.client.Batch(ctx, deletions...)
}

// load passes the messages of the previous run to add, one at a time. They wait again, because the
// spans that had arrived are lost. broken contains errors for messages that cannot be read. If the
// range cannot be read, load returns an error, because new messages would overwrite the stored
// ones.
func (s *store) load(ctx context.Context, add func(*heldMessage)) (broken []error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, err := s.client.Get(ctx, keyRange)
	if err != nil {
		return nil, fmt.Errorf("storage: cannot read the range of held messages: %w", err)
	}
	if value == nil {
		return nil, nil
	}
	bounds, err := collector.VerifyChecksum(value)
	if err != nil || len(bounds) != 16 { // the held messages cannot be found and are overwritten
		return []error{fmt.Errorf("range: %w", cmp.Or(err, collector.ErrDamaged))}, nil
	}
	first := binary.BigEndian.Uint64(bounds)
	s.next = binary.BigEndian.Uint64(bounds[8:])
	for number := first; number < s.next; number++ {
		value, err := s.client.Get(ctx, keyOf(number))
		if err != nil {
			broken = append(broken, fmt.Errorf("message %d: %w", number, err))
			s.present = append(s.present, number) // kept for the next start
			continue
		}
		if value == nil {
			continue // it was forwarded
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
		h.storageKey, h.retries = number, s.loadRetries(ctx, number)
		h.retriesStored = h.retries.suspect
		s.present = append(s.present, number)
		add(h)
	}
	return broken, nil
}

func keyOf(number uint64) string        { return strconv.FormatUint(number, 10) }
func retriesKeyOf(number uint64) string { return keyOf(number) + ".retries" }

// formatVersion is the first byte of a stored message. Messages of version 0 had no version byte,
// but begin with the first byte of a length below 16 MiB, which is zero. Before version 2, the
// tenant was not stored: these messages count as sent without credentials.
const formatVersion = 2

// retriesVersion is the first byte of a stored retry state.
const retriesVersion = 1

// storedSender is the JSON text at the beginning of a stored message.
type storedSender struct {
	Tenant   []byte              `json:"tenant,omitempty"` // not a string, so that texts that are not UTF-8 stay different
	Metadata map[string][]string `json:"metadata"`
}

// errNewerFormat is the error for a message that a later version of the collector stored. It stays
// in the storage.
var errNewerFormat = fmt.Errorf("format is newer than version %d, the newest that this collector can read", formatVersion)

// encodeHeld encodes a message as format version, length of the sender, sender (JSON) and profiles
// (OTLP).
func encodeHeld(h *heldMessage) ([]byte, error) {
	sender := storedSender{[]byte(h.tenant.Authenticated), map[string][]string{}}
	for key := range h.client.Metadata.Keys() {
		sender.Metadata[key] = h.client.Metadata.Get(key)
	}
	head, err := json.Marshal(sender)
	if err != nil {
		return nil, err
	}
	body, err := marshalUnchanged(h.parts[0])
	if err != nil {
		return nil, err
	}
	value := append(make([]byte, 0, 1+4+len(head)+len(body)+4), formatVersion) // and a checksum
	value = binary.BigEndian.AppendUint32(value, uint32(len(head)))
	return append(append(value, head...), body...), nil
}

// marshalUnchanged encodes a message that only this goroutine uses. Marshalling moves the texts of
// resources and scopes to the dictionary, so these are copied. The rest is not: a copy would double
// the memory of large messages.
func marshalUnchanged(p pprofile.Profiles) ([]byte, error) {
	lent, texts := pprofile.NewProfiles(), p.Dictionary().StringTable().Len()
	p.Dictionary().MoveTo(lent.Dictionary())
	for _, resource := range p.ResourceProfiles().All() {
		r := lent.ResourceProfiles().AppendEmpty()
		resource.Resource().CopyTo(r.Resource())
		r.SetSchemaUrl(resource.SchemaUrl())
		for _, scope := range resource.ScopeProfiles().All() {
			s := r.ScopeProfiles().AppendEmpty()
			scope.Scope().CopyTo(s.Scope())
			s.SetSchemaUrl(scope.SchemaUrl())
			scope.Profiles().MoveAndAppendTo(s.Profiles())
		}
	}
	body, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(lent)
	for i, resource := range lent.ResourceProfiles().All() {
		for j, scope := range resource.ScopeProfiles().All() {
			scope.Profiles().MoveAndAppendTo(p.ResourceProfiles().At(i).ScopeProfiles().At(j).Profiles())
		}
	}
	lent.Dictionary().MoveTo(p.Dictionary())
	added := 0
	p.Dictionary().StringTable().RemoveIf(func(string) bool { added++; return added > texts })
	return body, err
}

// openHeld decodes a stored message.
func openHeld(stored []byte) (*heldMessage, error) {
	value, err := collector.VerifyChecksum(stored)
	if err != nil {
		return nil, err
	}
	return decodeHeld(value)
}

func decodeHeld(value []byte) (*heldMessage, error) {
	if len(value) > 0 && value[0] > formatVersion {
		return nil, errNewerFormat
	}
	version := byte(0)
	if len(value) > 0 && value[0] > 0 {
		version, value = value[0], value[1:]
	}
	if len(value) < 4 || uint32(len(value)-4) < binary.BigEndian.Uint32(value) {
		return nil, errors.New("message is truncated")
	}
	head, body := value[4:4+binary.BigEndian.Uint32(value)], value[4+binary.BigEndian.Uint32(value):]
	var sender storedSender
	var err error
	if version < 2 {
		err = json.Unmarshal(head, &sender.Metadata)
	} else {
		err = json.Unmarshal(head, &sender)
	}
	if err != nil {
		return nil, fmt.Errorf("sender: %w", err)
	}
	profiles, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(body)
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	h := &heldMessage{parts: []pprofile.Profiles{profiles}, arrived: time.Now(), bytes: int64(len(body))}
	of := tenant.Parse(string(sender.Tenant))
	if of != (tenant.Tenant{}) {
		h.client = client.FromContext(tenant.NewContext(context.Background(), of))
	}
	h.tenant.Authenticated = of.String()
	h.client.Metadata = client.NewMetadata(sender.Metadata)
	return h, nil
}
