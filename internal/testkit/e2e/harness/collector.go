// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"errors"
	"fmt"
	"math/rand/v2"
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

// ProfilesGate enables the profiles signal, which is alpha: without it the collector rejects a
// configuration with a profiles pipeline.
const ProfilesGate = "--feature-gates=service.profilesSupport"

const (
	// StartTimeout bounds a start, which takes half a second on an idle machine.
	StartTimeout = 30 * time.Second
	// settling is how long a collector that is ready needs to ask for SIGTERM. It does so without a
	// sign (otelcol/collector.go, Run); until then, the signal kills it.
	settling = 500 * time.Millisecond
	// StopTimeout bounds a shutdown: orchestrators kill after 10 s (docker) or 30 s (kubernetes).
	StopTimeout = 10 * time.Second
)

// Collector is the built distribution, running as a process of its own.
type Collector struct {
	Address string // of the receiver, host:port
	Log     *LogBuffer

	metrics string // of its own metrics, host:port
	config  string // path of the configuration
	process *exec.Cmd
	limit   int           // MiB, see Settings.MemoryLimit
	started time.Duration // CPU time until it was ready
	ready   time.Time
	exited  chan struct{} // closed after exit
	exit    error         // then: how
	stopped bool          // by Stop or Kill
}

// Binary returns the path of the built collector. Without one it skips the test, or fails it in CI.
func Binary(t testing.TB) string {
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

// Start starts a collector and waits until it is ready. The cleanup of the test stops it and checks
// that it exits cleanly.
func Start(t testing.TB, s Settings) *Collector {
	t.Helper()
	c, err := TryStart(t, s)
	if err != nil {
		t.Fatalf("the collector does not start: %v\n%s", err, c.Log.Tail())
	}
	c.started = c.CPUTime(t)
	c.cleanup(t)
	return c
}

// TryStart starts a collector and waits until it is ready. If it returns an error, the collector
// has exited and its log has the reason.
func TryStart(t testing.TB, s Settings) (*Collector, error) {
	// Another process may bind the port between FreeAddress and the start.
	for attempt := 1; ; attempt++ {
		c := Launch(t, s)
		err := c.WaitReady()
		if err == nil {
			return c, nil
		}
		c.Kill()
		if attempt == 3 || !strings.Contains(c.Log.String(), "address already in use") {
			return c, err
		}
	}
}

// Launch starts a collector and returns at once.
func Launch(t testing.TB, s Settings) *Collector {
	path := Binary(t)
	c := &Collector{Address: FreeAddress(t), metrics: FreeAddress(t), Log: &LogBuffer{}, exited: make(chan struct{})}
	dir := t.TempDir()
	c.limit = s.MemoryLimit
	c.config = filepath.Join(dir, "config.yaml")
	metrics := filepath.Join(dir, "metrics.yaml")
	c.Configure(t, s)
	require.NoError(t, os.WriteFile(metrics, []byte(ownMetrics(c)), 0o600))

	c.run(t, exec.Command(path, "--config", c.config, "--config", metrics, ProfilesGate))
	return c
}

// Configure writes the configuration file; a running collector reads it on Reload.
func (c *Collector) Configure(t testing.TB, s Settings) {
	require.NoError(t, os.WriteFile(c.config, []byte(s.text(c)), 0o600))
}

// StartCommand starts a collector with a command line of the caller and returns at once. The
// cleanup of the test stops it. The address is where its Sentry receiver listens, if it has one.
func StartCommand(t testing.TB, command *exec.Cmd, address string) *Collector {
	t.Helper()
	c := &Collector{Address: address, Log: &LogBuffer{}, exited: make(chan struct{})}
	c.run(t, command)
	c.cleanup(t)
	return c
}

// Remote returns a collector that another process has started. Only Send, TrySend and WaitReady
// work.
func Remote(address string) *Collector { return &Collector{Address: address} }

// cleanup stops the collector at the end of the test.
func (c *Collector) cleanup(t testing.TB) {
	t.Cleanup(func() {
		c.end(t)
		if t.Failed() {
			t.Logf("log of the collector %v:\n%s", c.process.Args, c.Log.Tail())
		}
	})
}

func (c *Collector) run(t testing.TB, process *exec.Cmd) {
	c.process = process
	c.process.Stdout, c.process.Stderr = c.Log, c.Log
	require.NoError(t, c.process.Start())
	c.limitMemory()
	go func() {
		c.exit = c.process.Wait()
		close(c.exited)
	}()
	go c.guardMemory()
}

// WaitReady polls Relay's health endpoint, as a load balancer does, until it reports ready and all
// components have started, or the collector exits.
func (c *Collector) WaitReady() error {
	client := http.Client{Timeout: time.Second}
	for deadline := time.Now().Add(StartTimeout); ; time.Sleep(20 * time.Millisecond) {
		response, err := client.Get("http://" + c.Address + "/api/relay/healthcheck/ready/")
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK && c.allStarted() {
				c.ready = time.Now()
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
			return fmt.Errorf("not ready after %s: %w", StartTimeout, err)
		}
	}
}

// allStarted reports whether the log says so: receivers start in no defined order, and the health
// endpoint is that of one. A log without the level info says nothing.
func (c *Collector) allStarted() bool {
	if c.Log == nil {
		return true
	}
	log := c.Log.String()
	return !strings.Contains(log, "Starting otelcol") || strings.Contains(log, "Everything is ready")
}

// Running reports whether the collector has not exited.
func (c *Collector) Running() bool {
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}

// Wait waits until the collector exits and returns its exit error.
func (c *Collector) Wait() error {
	<-c.exited
	return c.exit
}

// ExitsWithin reports whether the collector exits before the timeout.
func (c *Collector) ExitsWithin(timeout time.Duration) bool {
	select {
	case <-c.exited:
		return true
	case <-time.After(timeout):
		return false
	}
}

// Reload sends SIGHUP: the collector reads its configuration again.
func (c *Collector) Reload(t testing.TB) {
	t.Helper()
	require.NoError(t, c.process.Process.Signal(syscall.SIGHUP))
}

// Stop sends SIGTERM, as an orchestrator does, and checks that the collector exits cleanly. Further
// calls do nothing.
func (c *Collector) Stop(t testing.TB) {
	t.Helper()
	if !c.stopped {
		time.Sleep(time.Until(c.ready.Add(settling)))
	}
	c.end(t)
}

// end is Stop without the wait: a collector that settles may be killed by the signal.
func (c *Collector) end(t testing.TB) {
	t.Helper()
	if c.stopped {
		return
	}
	c.stopped = true
	settles := time.Since(c.ready) < settling
	if !c.Running() {
		t.Errorf("the collector was gone before the end of the test: %v", c.exit)
		return
	}
	require.NoError(t, c.process.Process.Signal(syscall.SIGTERM))
	select {
	case <-c.exited:
		if c.exit != nil && !(settles && terminated(c.exit)) {
			t.Errorf("the collector ends with %v", c.exit)
		}
	case <-time.After(StopTimeout):
		c.Kill()
		t.Errorf("the collector did not end within %s of SIGTERM", StopTimeout)
	}
}

// terminated reports whether SIGTERM killed the process.
func terminated(exit error) bool {
	failed, ok := errors.AsType[*exec.ExitError](exit)
	if !ok {
		return false
	}
	status, ok := failed.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGTERM
}

// Kill sends SIGKILL and waits for the exit. The cleanup of the test accepts that.
func (c *Collector) Kill() {
	c.stopped = true
	_ = c.process.Process.Kill()
	<-c.exited
}

// FreeAddress returns an address of the loopback interface that nothing listens at, host:port. The
// port is below those that systems choose for outgoing connections: one of those may be taken again
// before the collector listens at it. For the same reason, an address is not returned twice within
// a minute.
func FreeAddress(t testing.TB) string {
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(12_000))
		if last, returned := returnedAddresses.Swap(address, time.Now()); returned && time.Since(last.(time.Time)) < time.Minute {
			continue
		}
		if listener, err := net.Listen("tcp", address); err == nil {
			listener.Close()
			return address
		}
	}
	require.Fail(t, "no free port")
	return ""
}

// returnedAddresses are addresses with the time of their last use.
var returnedAddresses sync.Map
