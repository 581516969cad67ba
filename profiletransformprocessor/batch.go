// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// BatchConfig configures how held messages are joined.
type BatchConfig struct {
	// Timeout is how long a batch accepts messages; 0 disables batches.
	Timeout time.Duration `mapstructure:"timeout"`

	// MaxBytes is the maximum size of a batch before its messages are joined. A message that alone
	// is larger is a batch of its own.
	MaxBytes int64 `mapstructure:"max_bytes"`

	// MetadataKeys are the keys of the sender's metadata that are forwarded, and in which all
	// senders of a batch agree; empty = all but the link key, which differs between the processes
	// of a tenant.
	MetadataKeys []string `mapstructure:"metadata_keys"`
}

// defaultBatchBytes: gRPC servers accept 4 MiB by default.
const defaultBatchBytes = 3 << 20

func (c *BatchConfig) enabled() bool { return c.Timeout > 0 }

// sender returns the part of a sender's information that is forwarded with a batch, and a key that
// is equal for senders whose messages may share a batch. Exporters use metadata and authentication
// to select the tenant at the backend.
func (c *BatchConfig) sender(tenant spanlink.Tenant, of client.Info) (client.Info, string) {
	keys := c.MetadataKeys
	if len(keys) == 0 {
		keys = slices.DeleteFunc(slices.Sorted(of.Metadata.Keys()), func(key string) bool { return key == semconv.MetadataSentryLinkKey })
	}
	metadata := make(map[string][]string, len(keys))
	group := fmt.Appendf(nil, "%q %q", tenant.Authenticated, tenant.Stated)
	for _, key := range keys {
		if values := of.Metadata.Get(key); len(values) > 0 {
			metadata[key] = values
			group = fmt.Appendf(group, " %q=%q", key, values)
		}
	}
	if of.Auth != nil {
		names := of.Auth.GetAttributeNames()
		slices.Sort(names)
		for _, name := range names {
			group = fmt.Appendf(group, " %q:%q", name, of.Auth.GetAttribute(name))
		}
	}
	return client.Info{Auth: of.Auth, Metadata: client.NewMetadata(metadata)}, string(group)
}

// batch has held messages that are forwarded together.
type batch struct {
	group    string
	until    time.Time // for new messages
	bytes    int64
	messages []*heldMessage
}

// addToBatch adds a message to the batch of its group. All messages of the batch are due when the
// last one has waited for its spans.
func (q *waitQueue) addToBatch(h *heldMessage) {
	b := q.batches[h.group]
	if b != nil && (b.bytes+h.otlpSize() > q.batching.MaxBytes || h.arrived.After(b.until)) {
		q.closeBatch(b)
		b = nil
	}
	if b == nil {
		b = &batch{group: h.group, until: h.arrived.Add(q.batching.Timeout)}
		q.batches[h.group] = b
	}
	h.batch, h.nextAttempt = b, b.until.Add(q.wait)
	b.messages, b.bytes = append(b.messages, h), b.bytes+h.otlpSize()
	if b.bytes >= q.batching.MaxBytes {
		q.closeBatch(b)
	}
}

// closeBatch makes a batch due before its timeout.
func (q *waitQueue) closeBatch(b *batch) {
	delete(q.batches, b.group)
	due := b.messages[len(b.messages)-1].arrived.Add(q.wait)
	for _, h := range b.messages {
		h.nextAttempt = due
		if h.queued {
			q.schedules[waiting].moved(h)
		}
	}
	q.signal()
}

// dequeueBatch removes a message and the others of its batch. It returns the oldest one, with the
// parts of all.
func (q *waitQueue) dequeueBatch(ctx context.Context, h *heldMessage) *heldMessage {
	if h.batch == nil {
		q.dequeue(ctx, h)
		return h
	}
	messages := slices.DeleteFunc(h.batch.messages, func(m *heldMessage) bool { return !m.queued }) // evicted
	oldest := messages[0]
	for _, m := range messages {
		q.dequeue(ctx, m)
		m.batch = nil
		if m != oldest {
			oldest.parts, m.parts = append(oldest.parts, m.parts...), nil // decompress adds the others
			oldest.joined = append(oldest.joined, m)
		}
	}
	return oldest
}

// isBatch reports whether the parts have profiles of several messages.
func (h *heldMessage) isBatch() bool { return len(h.joined) > 0 && !h.separated }

// separate returns the profiles of refused messages as messages of their own, so that only those
// that are refused again are retried or lost.
func separate(parts []pprofile.Profiles) (all []pprofile.Profiles) {
	for _, part := range parts {
		size := int((&pprofile.ProtoMarshaler{}).ProfilesSize(part))
		all = append(all, dictionary.Separate(part, separateMultiple*size+separateBytes)...)
	}
	return all
}

// The separate profiles of a batch have at most this multiple of its size plus this constant. One
// more message may exceed it, and one has all other profiles.
const (
	separateMultiple = 4
	separateBytes    = 4 << 20
)
