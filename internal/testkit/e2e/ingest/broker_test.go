// SPDX-License-Identifier: Apache-2.0

//go:build ingest

package ingest

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// broker accepts what a producer sends to any topic, as a Kafka broker does, and keeps it in
// memory. It has the oldest versions of the requests that librdkafka needs
// (https://kafka.apache.org/protocol).
type broker struct {
	t        *testing.T
	listener net.Listener

	mu      sync.Mutex
	records []record
	last    time.Time // time of the last record
	keep    bool      // else they are discarded
}

type record struct {
	topic string
	value []byte
}

func startBroker(t *testing.T, keep bool) *broker {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &broker{t: t, listener: listener, last: time.Now(), keep: keep}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go b.serve(connection)
		}
	}()
	return b
}

func (b *broker) address() string { return b.listener.Addr().String() }

// take removes and returns all records.
func (b *broker) take() []record {
	b.mu.Lock()
	defer b.mu.Unlock()
	records := b.records
	b.records = nil
	return records
}

// quiet returns for how long no record has arrived.
func (b *broker) quiet() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Since(b.last)
}

// Keys of requests, and the versions of them that the broker has. librdkafka writes batches of
// version 2 if a broker has these versions of produce and fetch requests, although it does not
// fetch.
const (
	produceKey     = 0
	fetchKey       = 1
	metadataKey    = 3
	apiVersionsKey = 18
)

var apiVersions = [][3]int16{{produceKey, 3, 3}, {fetchKey, 4, 4}, {metadataKey, 1, 1}, {apiVersionsKey, 0, 3}}

func (b *broker) serve(connection net.Conn) {
	defer connection.Close()
	in := bufio.NewReader(connection)
	for {
		var size [4]byte
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return
		}
		request := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(in, request); err != nil {
			return
		}
		r := &reader{rest: request}
		key, version, correlation := r.int16(), r.int16(), r.int32()
		r.text() // client ID
		w := writer{}.int32(0).int32(correlation)
		switch key {
		case apiVersionsKey:
			w = b.versions(w, version)
		case metadataKey:
			w = b.metadata(w, r)
		case produceKey:
			w = b.produce(w, r)
		default:
			assert.Fail(b.t, "request to the broker", "key %d", key)
			return
		}
		if !assert.False(b.t, r.broken, "request %d to the broker", key) {
			return
		}
		binary.BigEndian.PutUint32(w, uint32(len(w)-4))
		if _, err := connection.Write(w); err != nil {
			return
		}
	}
}

func (*broker) versions(w writer, version int16) writer {
	w = w.int16(0)
	if version < 3 {
		w = w.int32(int32(len(apiVersions)))
		for _, v := range apiVersions {
			w = w.int16(v[0]).int16(v[1]).int16(v[2])
		}
		return w
	}
	w = append(w, byte(len(apiVersions)+1)) // compact list
	for _, v := range apiVersions {
		w = append(w.int16(v[0]).int16(v[1]).int16(v[2]), 0) // no tagged fields
	}
	return append(w.int32(0), 0)
}

// metadata states that the broker leads one partition of each topic.
func (b *broker) metadata(w writer, r *reader) writer {
	host, port, _ := net.SplitHostPort(b.address())
	number, _ := strconv.Atoi(port)
	const node, noRack = 1, -1
	w = w.int32(1).int32(node).text(host).int32(int32(number)).int16(noRack).int32(node)
	topics := max(0, r.int32()) // -1 = all
	w = w.int32(topics)
	for range topics {
		w = w.int16(0).text(r.text())
		w = append(w, 0) // not internal
		w = w.int32(1).int16(0).int32(0).int32(node).int32(1).int32(node).int32(1).int32(node)
	}
	return w
}

func (b *broker) produce(w writer, r *reader) writer {
	r.text()            // transaction
	r.int16()           // acks
	r.int32()           // timeout
	topics := r.int32() // with data
	w = w.int32(topics) // the same ones
	for range topics {
		topic, partitions := r.text(), r.int32()
		w = w.text(topic).int32(partitions)
		for range partitions {
			partition := r.int32()
			b.add(topic, &reader{rest: r.bytes(int(r.int32()))})
			w = w.int32(partition).int16(0).int64(0).int64(-1)
		}
	}
	return w.int32(0)
}

// add reads uncompressed batches of records.
func (b *broker) add(topic string, r *reader) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = time.Now()
	for len(r.rest) > 0 && !r.broken {
		r.bytes(8) // offset
		batch := &reader{rest: r.bytes(int(r.int32()))}
		batch.bytes(4 + 1 + 4) // epoch, version, checksum
		compression := batch.int16() & 7
		batch.bytes(4 + 8 + 8 + 8 + 2 + 4) // offsets, times, producer
		n := batch.int32()
		for range n {
			entry := &reader{rest: batch.bytes(int(batch.varint()))}
			entry.bytes(1) // attributes
			entry.varint() // time
			entry.varint() // offset
			entry.bytes(int(entry.varint()))
			value := entry.bytes(int(entry.varint()))
			if b.keep {
				b.records = append(b.records, record{topic, value})
			}
			assert.False(b.t, entry.broken, "a record of %s", topic)
		}
		assert.False(b.t, batch.broken || compression != 0, "a batch of %s", topic)
	}
}

// reader reads Kafka's primitive types.
type reader struct {
	rest   []byte
	broken bool
}

// bytes returns the next n bytes; -1 is none.
func (r *reader) bytes(n int) []byte {
	if n = max(n, 0); n > len(r.rest) {
		r.broken, r.rest = true, nil
		return make([]byte, min(n, 8))
	}
	value := r.rest[:n:n]
	r.rest = r.rest[n:]
	return value
}

func (r *reader) int16() int16 { return int16(binary.BigEndian.Uint16(r.bytes(2))) }
func (r *reader) int32() int32 { return int32(binary.BigEndian.Uint32(r.bytes(4))) }
func (r *reader) text() string { return string(r.bytes(int(r.int16()))) }

func (r *reader) varint() int64 {
	value, n := binary.Varint(r.rest)
	r.bytes(max(n, 0))
	r.broken = r.broken || n <= 0
	return value
}

// writer appends Kafka's primitive types.
type writer []byte

func (w writer) int16(v int16) writer { return binary.BigEndian.AppendUint16(w, uint16(v)) }
func (w writer) int32(v int32) writer { return binary.BigEndian.AppendUint32(w, uint32(v)) }
func (w writer) int64(v int64) writer { return binary.BigEndian.AppendUint64(w, uint64(v)) }
func (w writer) text(v string) writer { return append(w.int16(int16(len(v))), v...) }
