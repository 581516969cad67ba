// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// knownLosses explains what was lost, after the last collector of a round was stopped.
func (r *rig) knownLosses() losses {
	known := losses{
		wasHeld: r.wasHeld, wasInFile: r.wasInDamagedFile,
		held: map[kind]int{}, dropped: maps.Clone(r.dropped), byQueue: map[kind]int{},
	}
	for _, c := range r.crashes {
		known.held[aProfile] += c.held
	}
	if r.setup.tee {
		r.addLossesOfTee(&known)
		return known
	}
	byLog := map[kind]int{}
	for _, c := range r.all {
		log := c.Log.String()
		for kind, n := range droppedByExporter(log) {
			byLog[kind] += n
		}
		known.dropped[aProfile] += lostByProcessor(log)
		for kind, n := range droppedByQueue(log) {
			known.byQueue[kind] += n
		}
	}
	for kind, n := range byLog { // the counters end a moment before the exporters do
		known.dropped[kind] = max(known.dropped[kind], n)
	}
	return known
}

// wasHeld: profiles that wait in memory end with the process, and nothing else. It may have been acknowledged after those that waited
// were counted.
func (r *rig) wasHeld(i sentItem, at time.Time) bool {
	if r.setup.tee && !r.diskWasFull || !r.setup.tee && (i.kind != aProfile || r.setup.wait == 0 || r.setup.stored) {
		return false
	}
	for _, c := range r.crashes {
		if at.After(c.from) && at.Before(c.until) {
			return true
		}
	}
	return false
}

// wasInDamagedFile: it had been sent by then, and the file is of its signal.
func (r *rig) wasInDamagedFile(i sentItem, at time.Time) bool {
	return (r.setup.tee || i.kind == r.damagedKind) && at.Before(r.damagedAt)
}

// counted returns the losses by the collector's own count. Requests that an exporter gives up at a shutdown stay in the storage of its
// queue and are no loss; without a queue, each attempt counts as a loss, though the processor retries. Each profile that is sent has one
// sample, and each request one item of a kind.
func (r *rig) counted(metrics harness.Metrics) map[kind]int {
	counted := map[kind]int{}
	if r.setup.tee {
		return countedByTee(metrics)
	}
	for _, outcome := range []string{"expired", "evicted"} {
		counted[aProfile] += metrics.Sum("otelcol_processor_profile_transform_outgoing_profiles", "outcome="+outcome)
	}
	if !r.noQueue {
		for k, name := range map[kind]string{aProfile: "profile_samples", aSpan: "spans", aLog: "log_records"} {
			name = "otelcol_exporter_send_failed_" + name
			counted[k] += metrics.Sum(name) - metrics.Sum(name, "error_type=Shutdown")
		}
	}
	return counted
}

// lostByProcessor are the held profiles that the queue refused at a shutdown, or that there was no time for. Both are counted as well, but
// the last moments of a process nobody scrapes.
func lostByProcessor(log string) (profiles int) {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "Profiles that waited for spans are lost: ") && !strings.Contains(line, "next component refuse") {
			n, _ := strconv.Atoi(lostProfiles.FindStringSubmatch(line)[1]) // digits
			profiles += n
		}
	}
	return profiles
}

// droppedByExporter returns the items that the queue of an exporter gave up, by the log.
func droppedByExporter(log string) map[kind]int {
	dropped := map[kind]int{}
	for line := range strings.Lines(log) {
		if !strings.Contains(line, "Exporting failed. Dropping data.") || strings.Contains(line, "interrupted due to shutdown") {
			continue // at a shutdown it stays in the storage
		}
		signal, items := queueSignal.FindStringSubmatch(line), droppedItems.FindStringSubmatch(line)
		if signal != nil && items != nil {
			n, _ := strconv.Atoi(items[1]) // digits
			dropped[kindOf[signal[1]]] += n
		}
	}
	return dropped
}

var (
	droppedItems = regexp.MustCompile(`"dropped_items": (\d+)`)
	lostProfiles = regexp.MustCompile(`"profiles": (\d+)`)

	queueSignal = regexp.MustCompile(`"otelcol.signal": "(\w+)"`)
	queueNumber = regexp.MustCompile(`"(?:numberOfItems|errorCount)": (\d+)`)
	kindOf      = map[string]kind{"profiles": aProfile, "traces": aSpan, "logs": aLog}
)

// droppedByQueue are the requests that the collector's persistent queue drops, by what it says in its log, at debug level for the
// most part. When it starts, it deletes what was being sent before it stores that anew: that is lost if the disk is full, or if the
// collector is killed in between. And what it cannot mark as being sent, because the disk is full, it passes over.
func droppedByQueue(log string) map[kind]int {
	dropped := map[kind]int{}
	fetched := map[kind]int{} // and not stored anew
	for line := range strings.Lines(log) {
		signal, number := queueSignal.FindStringSubmatch(line), 0
		if signal == nil {
			continue
		}
		if all := queueNumber.FindAllStringSubmatch(line, -1); len(all) > 0 {
			number, _ = strconv.Atoi(all[len(all)-1][1]) // digits
		}
		k := kindOf[signal[1]]
		switch {
		case strings.Contains(line, "Fetching items left for dispatch by consumers"):
			fetched[k] = number
		case strings.Contains(line, "Moved items for dispatching back to queue"):
			fetched[k] = 0
		case strings.Contains(line, "Errors occurred while moving items for dispatching back to queue"):
			fetched[k] = 0
			dropped[k] += number // of errors
		case strings.Contains(line, "Failed to dispatch item") && strings.Contains(line, "no space left"):
			dropped[k]++
		}
	}
	for k, n := range fetched {
		dropped[k] += n
	}
	return dropped
}
