// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// The signal is behind an alpha gate; without it the collector refuses a configuration with a profiles pipeline.
const profilesGate = "--feature-gates=service.profilesSupport"

const (
	// startTimeout: a start takes half a second; other tests may have the machine at that moment.
	startTimeout = 30 * time.Second
	// stopTimeout: orchestrators kill after 10 s (docker) or 30 s (kubernetes).
	stopTimeout = 10 * time.Second
)

// collector is the built distribution, running as a process of its own.
type collector struct {
	address string // of the receiver, host:port
	metrics string // of its own metrics, host:port

	config  string // path of the configuration
	process *exec.Cmd
	log     *logBuffer
	limit   int           // MiB, see settings
	exited  chan struct{} // closed after exit
	exit    error         // then: how
	stopped bool          // by stop or crash
}

// findBinary finds the built collector.
func findBinary(t testing.TB) string {
	t.Helper()
	path := os.Getenv("OTELCOL_SENTRY_BIN")
	if path == "" {
		path = filepath.Join(golden.Root(t), "dist", "otelcol-sentry")
	}
	if _, err := os.Stat(path); err != nil {
		const hint = "no collector to test: `make build` makes dist/otelcol-sentry, OTELCOL_SENTRY_BIN names another"
		if os.Getenv("CI") == "true" {
			t.Fatal(hint)
		}
		t.Skip(hint)
	}
	return path
}

// start runs the collector until the end of the test, which then checks that it stopped cleanly.
func start(t testing.TB, s settings) *collector {
	t.Helper()
	c, err := tryStart(t, s)
	if err != nil {
		t.Fatalf("the collector does not start: %v\n%s", err, c.log.Tail())
	}
	t.Cleanup(func() {
		c.stop(t)
		if t.Failed() {
			t.Logf("log of the collector:\n%s", c.log.Tail())
		}
	})
	return c
}

// tryStart runs the collector. With an error it has ended, and its log says why.
func tryStart(t testing.TB, s settings) (*collector, error) {
	path := findBinary(t)
	// A port that was free a moment ago may be taken by now.
	for attempt := 1; ; attempt++ {
		c := launch(t, path, s)
		err := c.waitReady()
		if err == nil {
			return c, nil
		}
		c.crash()
		if attempt == 3 || !strings.Contains(c.log.String(), "address already in use") {
			return c, err
		}
	}
}

func launch(t testing.TB, path string, s settings) *collector {
	c := &collector{address: freeAddress(t), metrics: freeAddress(t), log: &logBuffer{}, exited: make(chan struct{})}
	dir := t.TempDir()
	c.limit = cmp.Or(s.limit, memoryKill)
	c.config = filepath.Join(dir, "config.yaml")
	metrics := filepath.Join(dir, "metrics.yaml")
	c.configure(t, s)
	require.NoError(t, os.WriteFile(metrics, []byte(ownMetrics(c)), 0o600))

	c.run(t, exec.Command(path, "--config", c.config, "--config", metrics, profilesGate))
	return c
}

// configure writes the configuration.
func (c *collector) configure(t testing.TB, s settings) {
	require.NoError(t, os.WriteFile(c.config, []byte(s.text(c)), 0o600))
}

func (c *collector) run(t testing.TB, process *exec.Cmd) {
	c.process = process
	c.process.Stdout, c.process.Stderr = c.log, c.log
	require.NoError(t, c.process.Start())
	c.limitMemory()
	go func() {
		c.exit = c.process.Wait()
		close(c.exited)
	}()
	go c.guardMachine()
}

// waitReady asks Relay's health endpoint, as a load balancer would.
func (c *collector) waitReady() error {
	client := http.Client{Timeout: time.Second}
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(20 * time.Millisecond) {
		response, err := client.Get("http://" + c.address + "/api/relay/healthcheck/ready/")
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New(response.Status)
		}
		select {
		case <-c.exited:
			return fmt.Errorf("it exits: %w", c.exit)
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not ready after %s: %w", startTimeout, err)
		}
	}
}

// waitFor waits for another receiver than the one that waitReady asks: they start in no order.
func waitFor(t testing.TB, address string) {
	t.Helper()
	require.Eventually(t, func() bool {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			connection.Close()
		}
		return err == nil
	}, startTimeout, 20*time.Millisecond, "%s is open", address)
}

func (c *collector) running() bool {
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}

// stop asks the collector to end, as an orchestrator does, and expects it to end well. The second time it does nothing.
func (c *collector) stop(t testing.TB) {
	t.Helper()
	if c.stopped {
		return
	}
	c.stopped = true
	if !c.running() {
		t.Errorf("the collector was gone before the end of the test: %v", c.exit)
		return
	}
	require.NoError(t, c.process.Process.Signal(syscall.SIGTERM))
	select {
	case <-c.exited:
		if c.exit != nil {
			t.Errorf("the collector ends with %v", c.exit)
		}
	case <-time.After(stopTimeout):
		c.kill()
		t.Errorf("the collector did not end within %s of SIGTERM", stopTimeout)
	}
}

// crash ends the collector without warning; that is no failure of the test.
func (c *collector) crash() {
	c.stopped = true
	c.kill()
}

func (c *collector) kill() {
	_ = c.process.Process.Kill()
	<-c.exited
}

func freeAddress(t testing.TB) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// logBuffer keeps what the collector writes.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logBuffer) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Len()
}

// Tail is what is worth reading after a failure.
func (l *logBuffer) Tail() string {
	const enough = 8 << 10
	text := l.String()
	return text[max(0, len(text)-enough):]
}
