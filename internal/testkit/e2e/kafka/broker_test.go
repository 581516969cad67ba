// SPDX-License-Identifier: Apache-2.0

//go:build kafka

package kafka

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// broker is a Kafka broker that is its own controller.
type broker struct {
	address string
	jars    string
	config  string
	process *exec.Cmd
	log     harness.LogBuffer
}

// startBroker starts a broker that runs until the end of the test. `make kafka` provides its jars.
func startBroker(t *testing.T) *broker {
	t.Helper()
	b := &broker{address: harness.FreeAddress(t), jars: filepath.Join(golden.Root(t), "internal", "testkit", "e2e", "kafka", "broker", "*")}
	jars, err := filepath.Glob(b.jars + ".jar")
	require.NoError(t, err)
	require.NotEmpty(t, jars, "no broker to test with: `make kafka` fetches one")

	controller, dir := harness.FreeAddress(t), t.TempDir()
	b.config = filepath.Join(dir, "server.properties")
	require.NoError(t, os.WriteFile(b.config, []byte(strings.Join([]string{
		"process.roles=broker,controller",
		"node.id=1",
		"controller.quorum.voters=1@" + controller,
		"controller.listener.names=CONTROLLER",
		"listeners=PLAINTEXT://" + b.address + ",CONTROLLER://" + controller,
		"log.dirs=" + filepath.Join(dir, "log"),
		"offsets.topic.replication.factor=1",
		"offsets.topic.num.partitions=1",
		"auto.create.topics.enable=false",
	}, "\n")), 0o600))
	output, err := b.java(t, "kafka.tools.StorageTool", "format", "-t", "AAAAAAAAAAAAAAAAAAAAAA", "-c", b.config)
	require.NoError(t, err, output)
	b.start(t)
	t.Cleanup(func() {
		b.Stop(t)
		if t.Failed() {
			t.Logf("log of the broker:\n%s", b.log.Tail())
		}
	})
	return b
}

// start starts the broker and waits until it responds.
func (b *broker) start(t *testing.T) {
	t.Helper()
	b.process = exec.Command("java", "-Xmx256m", "-cp", b.jars, "kafka.Kafka", b.config)
	b.process.Stdout, b.process.Stderr = &b.log, &b.log
	require.NoError(t, b.process.Start())
	for deadline := time.Now().Add(settleTimeout); ; time.Sleep(100 * time.Millisecond) {
		if connection, err := net.Dial("tcp", b.address); err == nil {
			connection.Close()
			return
		}
		require.True(t, time.Now().Before(deadline), "the broker does not start:\n%s", b.log.Tail())
	}
}

func (b *broker) Stop(t *testing.T) {
	t.Helper()
	if b.process == nil {
		return
	}
	require.NoError(t, b.process.Process.Signal(syscall.SIGTERM))
	_ = b.process.Wait() // the error reports the kill
	b.process = nil
}

// java runs one of Kafka's command line tools.
func (b *broker) java(t *testing.T, class string, arguments ...string) (string, error) {
	t.Helper()
	output, err := exec.Command("java", append([]string{"-Xmx64m", "-cp", b.jars, class}, arguments...)...).CombinedOutput()
	return string(output), err
}

func (b *broker) createTopic(t *testing.T, name string) {
	t.Helper()
	output, err := b.java(t, "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", b.address,
		"--create", "--topic", name, "--partitions", fmt.Sprint(partitions))
	require.NoError(t, err, output)
}

// waitBalanced waits until both groups contain all of these instances, with the same partitions for
// each.
func (b *broker) waitBalanced(t *testing.T, instances ...string) {
	t.Helper()
	var profiles, traces []string
	var listing [2]string
	for deadline := time.Now().Add(settleTimeout); time.Now().Before(deadline); {
		profiles, listing[0] = b.owners(t, "linking-profiles")
		traces, listing[1] = b.owners(t, "linking-traces")
		if slices.Equal(profiles, traces) && slices.Equal(distinct(profiles), instances) {
			t.Logf("instance by partition: %v", profiles)
			return
		}
	}
	t.Fatalf("not balanced: %v, %v\n%s", profiles, traces, strings.Join(listing[:], "\n"))
}

// owners returns the instance of a group that owns each partition, or "", and the output of Kafka's
// tool.
func (b *broker) owners(t *testing.T, group string) (owners []string, output string) {
	t.Helper()
	// GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID; a
	// consumer ID begins with the instance ID.
	output, err := b.java(t, "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", "--bootstrap-server", b.address, "--describe", "--group", group,
		"--timeout", "60000") // of each request; with the default of 5 s, the tool lists nothing on a busy machine
	if err != nil {
		output += err.Error()
	}
	owners = make([]string, partitions)
	for line := range strings.Lines(output) {
		if fields := strings.Fields(line); len(fields) == 9 && fields[0] == group {
			partition := slices.Index([]string{"0", "1", "2", "3", "4", "5"}, fields[2])
			owners[partition], _, _ = strings.Cut(fields[6], "-")
		}
	}
	return owners, output
}

func distinct(sorted []string) []string { return slices.Compact(slices.Sorted(slices.Values(sorted))) }

// startExample starts a configuration of examples/kafka, with some settings changed, until the end
// of the test.
func startExample(t *testing.T, b *broker, config string, changed []string, environment ...string) *harness.Collector {
	t.Helper()
	address := harness.FreeAddress(t)
	command := exec.Command(harness.Binary(t), "--config", filepath.Join(golden.Root(t), "examples", "kafka", config), harness.ProfilesGate,
		"--set=service.telemetry.metrics.level=none") // the first collector uses the port
	for _, setting := range changed {
		command.Args = append(command.Args, "--set="+setting)
	}
	command.Env = append(os.Environ(), append(environment, "KAFKA_BROKER="+b.address, "SENTRY_ENDPOINT="+address)...)
	c := harness.StartCommand(t, command, address)
	require.Eventually(t, func() bool { return strings.Contains(c.Log.String(), "Everything is ready") }, harness.StartTimeout, 50*time.Millisecond,
		"%s does not start", config)
	return c
}
