// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/collector/receiver/xreceiver"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame/flametest"
	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver"
)

// drawnSelf is the sum of the self weights of boxes.
func drawnSelf(boxes [][9]int64) (sum int64) {
	for _, b := range boxes {
		sum += b[5]
	}
	return sum
}

// TestEveryObservationIsDrawn opens every recorded profile and every thread in it, in several
// widths and parts: the boxes show the busy time, in both orders.
func TestEveryObservationIsDrawn(t *testing.T) {
	t.Parallel()
	var drawn drawnTime
	send := recorded(t, func(message pprofile.Profiles) {
		reader := timeline.NewReader(message.Dictionary())
		for _, resource := range message.ResourceProfiles().All() {
			for _, scope := range resource.ScopeProfiles().All() {
				for _, p := range scope.Profiles().All() {
					drawn.profiles++
					drawn.check(t, reader.Read(p))
				}
			}
		}
	})
	for _, c := range golden.Cases(t) {
		if c.Envelope != nil {
			send("/api/1/envelope/?sentry_key=0123456789abcdef0123456789abcdef", c.Envelope)
		}
	}
	if testsize.Full() {
		for _, r := range golden.Corpus(t) {
			if r.Method == http.MethodPost {
				send(r.Path+"?"+r.Query+"&sentry_key=0123456789abcdef0123456789abcdef", r.Decoded(t))
			}
		}
	}
	require.Positive(t, drawn.pictures)
	t.Logf("%d profiles, %d pictures, %d ns busy, %d ns drawn; the worst picture shows %.4f %%",
		drawn.profiles, drawn.pictures, drawn.busy, drawn.shown, 100*drawn.worst)
}

// drawnTime sums what pictures show.
type drawnTime struct {
	profiles, pictures int
	busy, shown        int64
	worst              float64
}

// smallestPart is the minimum share of the busy time in a picture.
const smallestPart = 0.999

func (d *drawnTime) check(t *testing.T, p *timeline.Profile) {
	source := func(filter timeline.Filter) flame.Source {
		return func(visit func(flame.Selection) error) error {
			return visit(flame.Selection{Profile: p, Filter: filter})
		}
	}
	all, err := flame.New(source(timeline.Filter{}))
	require.NoError(t, err)
	var busy int64
	for _, sample := range p.Selected(timeline.Filter{}) {
		if sample.Stack != 0 {
			busy += max(0, sample.Weight)
		}
	}
	windows(busy, func(w flame.Window) {
		d.add(t, min(busy, w.To)-w.From, flametest.Drawn(all.Draw(w), w), 0)
	})
	for i := range p.Threads {
		thread := timeline.ThreadIndex(i)
		ordered, err := flame.InOrder(source(timeline.Filter{Thread: &thread}))
		require.NoError(t, err)
		if ordered.To <= ordered.From {
			continue
		}
		windows(int64(ordered.To-ordered.From), func(w flame.Window) {
			drawing := ordered.Draw(w, ordered.From)
			d.add(t, flametest.Busy(p.Threads[i].Samples, w, ordered.From), flametest.Drawn(drawing, w), 2*drawing.Smallest)
		})
	}
}

// windows visits all of a graph, and parts of it, in the widths of a screen and of a phone.
func windows(total int64, visit func(flame.Window)) {
	for _, pixels := range []int{1400, 300} {
		for _, part := range []int64{1, 7, 100, 5000} {
			for _, at := range []int64{0, total / 3, total - total/part} {
				if length := total / part; length > 0 && (part > 1 || at == 0) {
					visit(flame.Window{From: at, To: at + length, Pixels: pixels, Most: maxBoxes})
				}
			}
		}
	}
}

// add compares the busy time of a window with its picture. In the order of time, pauses narrower
// than a pixel count as evenly distributed over the box that contains them: at both edges of a
// window, a pixel may differ.
func (d *drawnTime) add(t *testing.T, busy, shown, edges int64) {
	d.pictures++
	d.busy += busy
	d.shown += shown
	assert.GreaterOrEqual(t, float64(shown+edges), smallestPart*float64(busy)-1)
	assert.LessOrEqual(t, float64(shown-edges), float64(busy)/smallestPart+1)
	if part := float64(shown+edges) / float64(busy); busy > 0 && (d.worst == 0 || part < d.worst) {
		d.worst = part
	}
}

// recorded starts a receiver and returns a function that sends it a request.
func recorded(t *testing.T, keep func(pprofile.Profiles)) (send func(path string, body []byte)) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	f := sentryreceiver.NewFactory()
	cfg := f.CreateDefaultConfig()
	require.NoError(t, confmap.NewFromStringMap(map[string]any{"endpoint": address}).Unmarshal(cfg))
	receiver, err := f.(xreceiver.Factory).CreateProfiles(t.Context(), receivertest.NewNopSettings(f.Type()), cfg, profilesConsumer(keep))
	require.NoError(t, err)
	require.NoError(t, receiver.Start(t.Context(), componenttest.NewNopHost()))
	client := http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		require.NoError(t, receiver.Shutdown(context.Background()))
	})
	return func(path string, body []byte) {
		response, err := client.Post("http://"+address+path, "application/x-sentry-envelope", bytes.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
}

// profilesConsumer is a function as a consumer of profiles.
type profilesConsumer func(pprofile.Profiles)

func (profilesConsumer) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (keep profilesConsumer) ConsumeProfiles(_ context.Context, p pprofile.Profiles) error {
	keep(p)
	return nil
}
