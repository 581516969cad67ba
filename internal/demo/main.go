// SPDX-License-Identifier: Apache-2.0

// Command demo sends recorded requests of real Sentry SDKs, and hand-written ones of Android, to a running collector, with new IDs and
// current times, so that you can try the collector without an SDK.
//
//	make run    # in one terminal
//	make demo   # in another
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

func main() {
	endpoint := flag.String("endpoint", "http://localhost:4319", "address of the collector's sentry receiver")
	key := flag.String("key", "0123456789abcdef0123456789abcdef", "public key of the DSN")
	project := flag.String("project", "1", "project ID of the DSN")
	rounds := flag.Int("rounds", 1, "number of times to send everything, each time with new IDs")
	cases := flag.String("cases", "testdata/cases", "folder of recorded requests, sdk-*/in.envelope")
	whole := flag.String("runs", "internal/demo/runs", "folder of recorded SDK runs, *.tar.gz; may be empty")
	flag.Parse()

	target := target{endpoint: strings.TrimRight(*endpoint, "/"), key: *key, project: *project}
	if err := run(target, *cases, *whole, *rounds, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run sends the recordings and prints the response to each.
func run(to target, cases, whole string, rounds int, out io.Writer) error {
	recordings, err := load(cases)
	if err != nil {
		return err
	}
	runs, err := loadRuns(whole)
	if err != nil {
		return err
	}
	recordings = append(recordings, runs...)
	width := 0
	for _, r := range recordings {
		width = max(width, len(r.sdk))
	}
	requests, profiles, failed := 0, 0, 0
	for range rounds {
		for _, r := range freshen(recordings, time.Now()) {
			answer, err := to.send(r.body)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%-*s  %-28s %s\n", width, r.sdk, r.itemNames(), answer)
			requests++
			if answer.status == http.StatusOK {
				profiles += r.profiles()
			} else {
				failed++
			}
		}
	}
	fmt.Fprintf(out, "\n%s accepted %d requests with %d profiles", to.endpoint, requests-failed, profiles)
	if failed > 0 {
		fmt.Fprintf(out, " and rejected %d requests", failed)
	}
	fmt.Fprintln(out)
	return nil
}

// target is the collector, and the DSN to use there.
type target struct{ endpoint, key, project string }

func (t target) dsn() string {
	scheme, host, _ := strings.Cut(t.endpoint, "://")
	return scheme + "://" + t.key + "@" + host + "/" + t.project
}

// answer is the response of the collector.
type answer struct {
	status int
	limits string
	body   string
}

func (a answer) String() string {
	text := fmt.Sprint(a.status)
	if a.status != http.StatusOK {
		text += " " + strings.TrimSpace(a.body)
	}
	if a.limits != "" {
		text += " (rate limit: " + a.limits + ")"
	}
	return text
}

func (t target) send(body []byte) (answer, error) {
	url := t.endpoint + "/api/" + t.project + "/envelope/"
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(readdress(body, t)))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("X-Sentry-Auth", sentry.Auth{PublicKey: t.key, Version: "7", Client: "otelcol-sentry.demo/1.0"}.Header())
	request.Header.Set("Content-Type", sentry.ContentTypeEnvelope)

	client := http.Client{Timeout: 30 * time.Second}
	response, err := client.Do(request)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return answer{}, fmt.Errorf("cannot connect to %s: start the collector with `make run` in another terminal", t.endpoint)
	case err != nil:
		return answer{}, fmt.Errorf("no response from %s: %w", t.endpoint, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	return answer{response.StatusCode, response.Header.Get(sentry.HeaderRateLimits), string(text)}, err
}
