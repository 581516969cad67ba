// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
)

// openStore opens the storage. The retry state of a message is stored too, so that a restart does
// not reset it.
func (p *profilesProcessor) openStore(ctx context.Context, host component.Host) error {
	storage, err := collector.StorageClient(ctx, host, *p.cfg.Storage, component.KindProcessor, p.id, "profiles")
	if err != nil {
		return err
	}
	p.store, err = journal.Open(ctx, storage, journal.Options{Failed: p.storageFailed})
	return err
}

// storageFailures has the consequences of failed operations.
var storageFailures = map[string]string{
	journal.LoadOperation:   "Cannot read profiles that waited for spans from the storage",
	journal.StoreOperation:  "Cannot store profiles; they are forwarded without waiting for spans, or their retries start over after a restart",
	journal.DeleteOperation: "Cannot remove forwarded profiles from the storage; they may be forwarded again after a crash",
}

func (p *profilesProcessor) storageFailed(operation string, err error) {
	p.telemetry.storageErrors.Add(context.Background(), 1)
	p.logger.Error(storageFailures[operation], zap.Error(err))
}

// maxStoreWait is how long a sender waits for a busy disk. Then its message is forwarded at once.
// Sentry's SDKs wait at least two seconds for a response (Ruby).
const maxStoreWait = time.Second

// persist stores a message if a storage is configured. It reports whether the message may be held.
func (p *profilesProcessor) persist(h *heldMessage) bool {
	if p.store == nil {
		return true
	}
	record, err := recordOf(h)
	if err != nil {
		p.storageFailed(journal.StoreOperation, err)
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxStoreWait)
	defer cancel()
	number, err := p.store.Put(ctx, record, nil)
	if err == nil {
		h.storageKey = number
	}
	return err == nil
}

// unpersist removes a message that was forwarded or lost, and those that joined it.
func (p *profilesProcessor) unpersist(h *heldMessage) {
	for _, each := range append([]*heldMessage{h}, h.joined...) {
		if each.storageKey != 0 {
			p.store.Remove(each.storageKey, nil)
		}
	}
}

// restore enqueues the messages that were held when the collector stopped. They wait again, because
// the spans that had arrived are lost.
func (p *profilesProcessor) restore(ctx context.Context) {
	restored := 0
	for number, record := range p.store.Earlier(ctx, false) {
		h, err := restoredOf(record)
		if err != nil {
			p.store.Unreadable(number, err)
			continue
		}
		h.storageKey, h.retries = number, decodeRetries(p.store.Retries(ctx, number))
		h.tenant = tenantOf(client.NewContext(ctx, h.client), p.keys, h.parts[0])
		h.client, h.group = p.cfg.Batch.sender(h.tenant, h.client)
		p.telemetry.restored.Add(ctx, profilesIn(h.parts))
		p.compress(h, h.bytes)
		p.queue.restore(ctx, h)
		restored++
	}
	if restored > 0 {
		p.logger.Info("Restored profiles that waited for spans when the collector stopped", zap.Int("messages", restored))
	}
}

// encodeRetries returns the stored form of a suspect's retry state.
func encodeRetries(r retries) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, uint64(r.elapsed)), uint32(r.refusals))
}

// decodeRetries is the inverse of encodeRetries. If the state is missing or damaged, the retries
// start over.
func decodeRetries(value []byte) retries {
	if len(value) != 8+4 {
		return retries{}
	}
	return retries{
		suspect:  true,
		elapsed:  time.Duration(binary.BigEndian.Uint64(value)),
		refusals: int(binary.BigEndian.Uint32(value[8:])),
	}
}

// storedSender is the head of a stored message, as JSON. The sender's address and other attributes
// of its authentication are not stored.
type storedSender struct {
	Tenant   []byte              `json:"tenant,omitempty"` // not a string, so that texts that are not UTF-8 stay different
	Metadata map[string][]string `json:"metadata"`
}

// recordOf returns the stored form of a message: the sender, and the profiles as OTLP.
func recordOf(h *heldMessage) (r journal.Record, err error) {
	sender := storedSender{[]byte(h.tenant.Authenticated), map[string][]string{}}
	for key := range h.client.Metadata.Keys() {
		sender.Metadata[key] = h.client.Metadata.Get(key)
	}
	if r.Head, err = json.Marshal(sender); err != nil {
		return r, err
	}
	r.Body, err = marshalUnchanged(h.parts[0])
	return r, err
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

// restoredOf is the inverse of recordOf.
func restoredOf(r journal.Record) (*heldMessage, error) {
	var sender storedSender
	if err := json.Unmarshal(r.Head, &sender); err != nil {
		return nil, fmt.Errorf("sender: %w", err)
	}
	profiles, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(r.Body)
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	h := &heldMessage{parts: []pprofile.Profiles{profiles}, arrived: time.Now(), bytes: int64(len(r.Body))}
	of := tenant.Parse(string(sender.Tenant))
	if of != (tenant.Tenant{}) {
		h.client = client.FromContext(tenant.NewContext(context.Background(), of))
	}
	h.tenant.Authenticated = of.String()
	h.client.Metadata = client.NewMetadata(sender.Metadata)
	return h, nil
}
