// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/discard"
)

// collector is the built collector in a child process.
type collector struct {
	process *exec.Cmd
	config  string
	listen  []string // addresses

	teeURL string
	sentry *discard.Backend // to which the tee forwards; nil = the tee is not used
}

// startCollector starts dist/otelcol-sentry with a configuration that listens on a number of
// addresses. The error names the missing file.
func startCollector(addresses int, configure func(listen []string) string) (*collector, error) {
	root, err := payload.Root()
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(root, "dist", "otelcol-sentry")
	if _, err := os.Stat(binary); err != nil {
		return nil, errors.New("dist/otelcol-sentry is not there: make build makes it")
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return nil, errors.New("the CPU time of another process is read from /proc, which is not here")
	}
	listen, err := freePorts(addresses)
	if err != nil {
		return nil, err
	}
	config, err := os.CreateTemp("", "otelcol-sentry-bench-*.yaml")
	if err != nil {
		return nil, err
	}
	defer config.Close()
	c := &collector{
		config:  config.Name(),
		process: exec.Command(binary, "--feature-gates=service.profilesSupport", "--config="+config.Name()),
		listen:  listen,
	}
	c.process.Stderr = os.Stderr
	if _, err := config.WriteString(configure(listen)); err != nil {
		return nil, err
	}
	if err := c.process.Start(); err != nil {
		os.Remove(c.config)
		return nil, err
	}
	for _, address := range listen {
		if err := listening(address); err != nil {
			c.stop()
			return nil, err
		}
	}
	return c, nil
}

// stop ends the collector's process.
func (c *collector) stop() {
	_ = c.process.Process.Signal(os.Interrupt)
	_ = c.process.Wait() // the exit status does not matter
	_ = os.Remove(c.config)
}

// freePorts returns free ports of the loopback interface.
func freePorts(n int) (addresses []string, err error) {
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses, nil
}

func listening(address string) error {
	const patience = 30 * time.Second
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if connection, err := net.Dial("tcp", address); err == nil {
			return connection.Close()
		}
	}
	return fmt.Errorf("the collector does not listen on %s after %v", address, patience)
}

const clients = 2

// send sends a request several times from two clients, and returns the total CPU time of the
// collector.
func (c *collector) send(r request, times int) (time.Duration, error) {
	before, err := c.cpu()
	if err != nil {
		return 0, err
	}
	var forwarded int64
	if c.sentry != nil {
		forwarded = c.sentry.Requests()
	}
	var sending sync.WaitGroup
	failures := make([]error, clients)
	for i := range clients {
		sending.Go(func() {
			for n := i; n < times && failures[i] == nil; n += clients {
				failures[i] = post(r)
			}
		})
	}
	sending.Wait()
	if c.sentry != nil && r.url == c.teeURL {
		failures = append(failures, c.awaitForwarded(forwarded+int64(times)))
	}
	after, err := c.cpu()
	return after - before, errors.Join(append(failures, err)...)
}

func post(r request) error {
	req, err := http.NewRequest(http.MethodPost, r.url, r.reader())
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", r.contentType)
	req.Header.Set("Content-Encoding", "gzip")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answered %s: %.100s", req.URL.Path, answer.Status, text)
	}
	return err
}

// tick is the resolution of CPU times in /proc, on every architecture.
const tick = time.Second / 100

// cpu returns the CPU time of the collector so far, in user and system mode.
func (c *collector) cpu() (time.Duration, error) {
	const utime, stime = 14 - 3, 15 - 3 // fields by proc(5), which counts from 1, after pid and command
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= stime {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", c.process.Process.Pid, len(fields))
	}
	user, err := strconv.Atoi(fields[utime])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[stime])
	return time.Duration(user+system) * tick, err
}
