// SPDX-License-Identifier: Apache-2.0

//go:build ingest

package ingest

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rows are findings, each with the items that have it.
type rows map[string][]string

func (r rows) add(row string, example string) { r[row] = append(r[row], example) }

// compare compares findings with a reviewed list: lines of a finding and the reason why it is
// right, with a tab between them. Each finding must be listed, and each listed one must occur.
func (r rows) compare(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	listed := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if row, reason, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			assert.NotEmpty(t, reason, row)
			listed[row] = true
		}
	}
	for _, row := range slices.Sorted(maps.Keys(r)) {
		if !listed[row] {
			assert.Fail(t, file+" does not list it", "%s\n%d items, such as %.400s", row, len(r[row]), r[row][0])
		}
	}
	for row := range listed {
		assert.NotEmpty(t, r[row], "%s: %s does not occur any more", file, row)
	}
}

// remarksOf returns the remarks of the items of a project.
func remarksOf(all []stored, project int) rows {
	found := rows{}
	for i := range all {
		if all[i].project == project {
			for _, remark := range all[i].remarks() {
				found.add(remark, all[i].raw)
			}
		}
	}
	return found
}

// refused returns the outcomes of a project with which ingest rejects data.
func refused(all []stored, project int) rows {
	found := rows{}
	const invalid, abuse, cardinality = 3, 4, 6 // relay-server/src/services/outcome/mod.rs
	for i := range all {
		if o := &all[i]; o.kind == "outcome" && o.project == project {
			switch id := number(o.body["outcome"]); id {
			case invalid, abuse, cardinality:
				found.add(fmt.Sprintf("outcome %v category %v: %v", id, o.body["category"], o.body["reason"]), o.raw)
			}
		}
	}
	return found
}

// clientOutcomes returns the sums of the other outcomes: those of client reports.
func clientOutcomes(all []stored, project int) map[string]float64 {
	sums := map[string]float64{}
	for i := range all {
		if o := &all[i]; o.kind == "outcome" && o.project == project {
			switch id := number(o.body["outcome"]); id {
			case 1, 2, 5:
				sums[fmt.Sprintf("outcome %v category %v: %v", id, o.body["category"], o.body["reason"])] += number(o.body["quantity"])
			}
		}
	}
	return sums
}

// sessions returns the release health of a project by release, environment and status. Errored
// sessions are distinct IDs, or numbers of an aggregate; users are distinct.
func sessions(all []stored, project int) map[string]float64 {
	counts, seen := map[string]float64{}, map[string]bool{}
	distinct := func(of string, set any) {
		for _, v := range values(set) {
			if id := fmt.Sprint(of, v); !seen[id] {
				seen[id] = true
				counts[of]++
			}
		}
	}
	for i := range all {
		m := &all[i]
		if m.kind != "session metric" || m.project != project {
			continue
		}
		tags, _ := m.body["tags"].(map[string]any)
		of := fmt.Sprint(tags["release"], " ", tags["environment"], " ")
		switch m.body["name"] {
		case "c:sessions/session@none":
			status := strings.TrimSuffix(fmt.Sprint(tags["session.status"]), "_preaggr")
			counts[of+status] += number(m.body["value"])
		case "s:sessions/error@none":
			distinct(of+"errored", m.body["value"])
		case "s:sessions/user@none":
			users := "users"
			if status, ok := tags["session.status"].(string); ok {
				users = status + " " + users
			}
			distinct(of+users, m.body["value"])
		}
	}
	return counts
}

// values returns the elements of a set: a list, or an object with its data.
func values(set any) []any {
	if object, ok := set.(map[string]any); ok {
		set = object["data"]
	}
	list, ok := set.([]any)
	if !ok {
		return []any{set}
	}
	return list
}

// identified returns the items of a project by an identity that a sender gives them.
func identified(all []stored, project int) map[string]*stored {
	items, seen := map[string]*stored{}, map[string]int{}
	for i := range all {
		s := &all[i]
		if s.project != project {
			continue
		}
		var id string
		switch attributes, _ := s.body["attributes"].(map[string]any); s.kind {
		case "span":
			id = fmt.Sprint(s.body["trace_id"], s.body["span_id"])
		case "event", "transaction", "feedback", "user_report":
			id = fmt.Sprint(s.body["event_id"])
		case "check_in":
			id = fmt.Sprint(s.body["check_in_id"], s.body["status"])
		case "profile_chunk":
			id = fmt.Sprint(s.body["chunk_id"])
		case "log":
			id = fmt.Sprint(s.body["trace_id"], attributes["sentry.body"])
		case "trace_metric":
			id = fmt.Sprint(s.body["trace_id"], attributes["sentry.metric_name"], attributes["sentry.metric_type"], attributes["sentry.value"], attributes["sentry.span_id"])
		default:
			continue
		}
		id = s.kind + " " + id
		seen[id]++
		items[fmt.Sprint(id, " ", seen[id])] = s
	}
	return items
}

// differences returns the fields of items that ingest stores in another way if they are sent
// straight (-) than through the collector (+), and the items that it stores only in one case.
func differences(all []stored) rows {
	found := rows{}
	sent, got := identified(all, straight), identified(all, exported)
	for id, s := range sent {
		g := got[id]
		if g == nil {
			found.add("- "+s.kind, id+" "+s.raw)
			continue
		}
		a, b := fields(s.body), fields(g.body)
		for path := range maps.Keys(a) {
			if len(b[path]) == 0 {
				found.add(fmt.Sprintf("- %s %s", s.kind, path), fmt.Sprint(a[path], " in ", id))
			} else if !same(a[path], b[path]) {
				found.add(fmt.Sprintf("~ %s %s", s.kind, path), fmt.Sprintf("%.100q and %.100q in %s", fmt.Sprint(a[path]), fmt.Sprint(b[path]), id))
			}
		}
		for path := range maps.Keys(b) {
			if len(a[path]) == 0 {
				found.add(fmt.Sprintf("+ %s %s", s.kind, path), fmt.Sprint(b[path], " in ", id))
			}
		}
	}
	for id, g := range got {
		if sent[id] == nil {
			found.add("+ "+g.kind, id+" "+g.raw)
		}
	}
	return found
}

// fields returns the scalars of a value by path. Elements of a list have one path.
func fields(body map[string]any) map[string][]any {
	all := map[string][]any{}
	var visit func(path string, value any)
	visit = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for key, member := range v {
				if _, err := strconv.Atoi(key); err == nil {
					key = "*"
				}
				visit(path+"/"+key, member)
			}
		case []any:
			for _, element := range v {
				visit(path+"/*", element)
			}
		case nil:
		case string:
			if v != "" {
				all[path] = append(all[path], v)
			}
		default:
			all[path] = append(all[path], v)
		}
	}
	for key, member := range body {
		switch key {
		case "_meta", "errors", "received", "project_id", "project", "key_id", "organization_id":
		default:
			visit("/"+key, member)
		}
	}
	return all
}

// isAddress reports whether a field states the address of a user.
func isAddress(path string) bool {
	return strings.HasSuffix(path, "ip_address") || strings.HasSuffix(path, "ip_address/value") || strings.Contains(path, "client.address") ||
		strings.Contains(path, "sentry.user.ip")
}

// same compares values; times may differ by as long as the test lasts.
func same(a, b []any) bool {
	return slices.EqualFunc(a, b, func(a, b any) bool {
		x, isNumber := a.(float64)
		y, both := b.(float64)
		if isNumber && both && x > 1e9 {
			return math.Abs(x-y) < 1e-6*x
		}
		return a == b
	})
}
