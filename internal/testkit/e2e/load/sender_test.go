// SPDX-License-Identifier: Apache-2.0

//go:build load

package load

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// maxConnections is the maximum number of concurrent requests. A request that is due while all are
// waiting is not sent.
const maxConnections = 256

// sender sends the profiles of a mix to one receiver.
type sender struct {
	collector *harness.Collector
	url       string
	kind      string // of content
	loads     []load
	form      func(load) body
	client    http.Client
}

func sentrySender(c *harness.Collector, m mix) *sender {
	return &sender{c, "http://" + c.Address + "/api/42/envelope/?sentry_key=" + harness.TestKey, "application/x-sentry-envelope", m.loads,
		func(l load) body { return l.sentry }, loadClient()}
}

func otlpSender(c *harness.Collector, address string, m mix) *sender {
	return &sender{c, "http://" + address + harness.ProfilesPath, "application/x-protobuf", m.loads,
		func(l load) body { return l.otlp }, loadClient()}
}

func loadClient() http.Client {
	return http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: maxConnections}, Timeout: harness.RequestTimeout}
}

// stretch is the result of sending for some time.
type stretch struct {
	offered  float64 // requests per second
	took     time.Duration
	drained  time.Duration   // until all accepted profiles were delivered
	cpu      time.Duration   // of the collector
	unsent   int             // number of requests without a free connection
	accepted [][16]byte      // IDs
	samples  int             // in accepted profiles
	refused  int             // with rate limits: 429, or 200 because another item of the envelope was accepted
	other    []string        // other answers; must be empty
	waits    []time.Duration // from the scheduled time to the answer, sorted
}

// send keeps its rate regardless of the answers. A request's wait begins at its scheduled time, so
// the delays of a slow collector are measured completely.
func (s *sender) send(t testing.TB, perSecond float64, howLong time.Duration) stretch {
	result := stretch{offered: perSecond}
	var mu sync.Mutex
	var sending sync.WaitGroup
	free := make(chan struct{}, maxConnections)
	cpu, begin := s.collector.CPUTime(t), time.Now()
	for i := range int(perSecond * howLong.Seconds()) {
		due := begin.Add(time.Duration(float64(i) / perSecond * float64(time.Second)))
		time.Sleep(time.Until(due))
		select {
		case free <- struct{}{}:
		default:
			result.unsent++
			continue
		}
		sending.Go(func() {
			defer func() { <-free }()
			load := s.loads[i%len(s.loads)]
			zipped, id := s.form(load).fresh()
			a := s.post(zipped)
			wait := time.Since(due)
			mu.Lock()
			defer mu.Unlock()
			result.waits = append(result.waits, wait)
			switch limited := strings.Contains(a.Header.Get("X-Sentry-Rate-Limits"), "profile_chunk"); {
			case limited && (a.Status == http.StatusTooManyRequests || a.Status == http.StatusOK):
				result.refused++
			case a.Status == http.StatusOK:
				result.accepted = append(result.accepted, id)
				result.samples += load.samples
			default:
				result.other = append(result.other, fmt.Sprintf("%d %.100s", a.Status, a.Body))
			}
		})
	}
	sending.Wait()
	result.took, result.cpu = time.Since(begin), s.collector.CPUTime(t)-cpu
	slices.Sort(result.waits)
	require.Empty(t, result.other, "answers that are neither 200 nor a refusal with limits")
	return result
}

// post returns status 0 and the error if there is no response.
func (s *sender) post(zipped []byte) harness.Response {
	request, err := http.NewRequest(http.MethodPost, s.url, bytes.NewReader(zipped))
	if err != nil {
		return harness.Response{Body: err.Error()}
	}
	request.Header.Set("Content-Type", s.kind)
	request.Header.Set("Content-Encoding", "gzip")
	response, err := s.client.Do(request)
	if err != nil {
		return harness.Response{Body: err.Error()}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return harness.Response{Body: err.Error()}
	}
	return harness.Response{Status: response.StatusCode, Header: response.Header, Body: string(text)}
}

// answered returns the rate of answers.
func (s stretch) answered() float64 { return float64(len(s.waits)) / s.took.Seconds() }

// delivered returns the rate of deliveries.
func (s stretch) delivered() float64 { return float64(len(s.accepted)) / s.drained.Seconds() }

func (s stretch) wait(quantile float64) time.Duration {
	return s.waits[int(quantile*float64(len(s.waits)-1))].Round(100 * time.Microsecond)
}
