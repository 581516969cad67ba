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

// knownLosses returns the explained losses, after the last collector of a round was stopped.
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
	for kind, n := range byLog { // the last scrape may precede the last drops
		known.dropped[kind] = max(known.dropped[kind], n)
	}
	return known
}

// wasHeld reports whether a profile may have been in memory when the process was killed. It may
// have been acknowledged after the held profiles were counted.
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

// wasInDamagedFile reports whether an item was sent before the damage, and its signal is that of
// the file.
func (r *rig) wasInDamagedFile(i sentItem, at time.Time) bool {
	return (r.setup.tee || i.kind == r.damagedKind) && at.Before(r.damagedAt)
}

// counted returns the losses that the collector counted. Requests that an exporter gives up at
// shutdown stay in the storage of its queue and are not lost. Without a queue, each attempt counts
// as a loss, although the processor retries. Each profile has one sample, and each request has one
// item of each kind.
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

// lostByProcessor returns the number of held profiles that the queue refused at shutdown, or that
// there was no time for, according to the log. Metrics count them too, but cannot be scraped in the
// last moments of a process.
func lostByProcessor(log string) (profiles int) {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "Profiles that waited for spans are lost: ") && !strings.Contains(line, "next component refuse") {
			n, _ := strconv.Atoi(lostProfiles.FindStringSubmatch(line)[1]) // the pattern matches digits only
			profiles += n
		}
	}
	return profiles
}

// droppedByExporter returns the number of items that an exporter's queue gave up, according to the
// log.
func droppedByExporter(log string) map[kind]int {
	dropped := map[kind]int{}
	for line := range strings.Lines(log) {
		if !strings.Contains(line, "Exporting failed. Dropping data.") || strings.Contains(line, "interrupted due to shutdown") {
			continue // at shutdown, it stays in the storage
		}
		signal, items := queueSignal.FindStringSubmatch(line), droppedItems.FindStringSubmatch(line)
		if signal != nil && items != nil {
			n, _ := strconv.Atoi(items[1]) // the pattern matches digits only
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

// droppedByQueue returns the number of requests that the collector's persistent queue dropped,
// according to its log, mostly at debug level. At startup, it deletes the requests that were in
// flight before it stores them again: they are lost if the disk is full, or if the collector is
// killed in between. It also skips requests that it cannot mark as in flight because the disk is
// full.
func droppedByQueue(log string) map[kind]int {
	dropped := map[kind]int{}
	fetched := map[kind]int{} // not stored again
	for line := range strings.Lines(log) {
		signal, number := queueSignal.FindStringSubmatch(line), 0
		if signal == nil {
			continue
		}
		if all := queueNumber.FindAllStringSubmatch(line, -1); len(all) > 0 {
			number, _ = strconv.Atoi(all[len(all)-1][1]) // the pattern matches digits only
		}
		k := kindOf[signal[1]]
		switch {
		case strings.Contains(line, "Fetching items left for dispatch by consumers"):
			fetched[k] = number
		case strings.Contains(line, "Moved items for dispatching back to queue"):
			fetched[k] = 0
		case strings.Contains(line, "Errors occurred while moving items for dispatching back to queue"):
			fetched[k] = 0
			dropped[k] += number // number of errors
		case strings.Contains(line, "Failed to dispatch item") && strings.Contains(line, "no space left"):
			dropped[k]++
		}
	}
	for k, n := range fetched {
		dropped[k] += n
	}
	return dropped
}
