// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"time"
)

// freshen makes new requests of recorded ones: other ids, and times that end now. Everything else
// stays as it is, byte for byte, and so does the length of everything: the text of ids and times is
// overwritten in place, so that the `length` of items stays right.
//
// The same old id becomes the same new id in all of them, so that a chunk still belongs to its
// transaction in another request. For the same reason, requests that share an id are shifted by the
// same time.
func freshen(recordings []recording, now time.Time) []recording {
	fresh := newIDs()
	result := slices.Clone(recordings)
	for _, run := range runs(recordings) {
		newest := int64(0)
		for _, i := range run {
			newest = max(newest, newestSecond(recordings[i].body))
		}
		for _, i := range run {
			result[i].body = fresh.replace(shift(recordings[i].body, newest, now.Unix()-1-newest))
		}
	}
	return result
}

// runs groups recordings (by index) that share an id, directly or by way of others: they come from
// one run of an SDK.
func runs(recordings []recording) [][]int {
	var groups [][]int
	var known []map[string]bool // the ids of each group
	for i, r := range recordings {
		group, ids := []int{i}, idsIn(r.body)
		// Every group that shares an id with this one becomes part of it.
		for g := len(groups) - 1; g >= 0; g-- {
			if !overlap(ids, known[g]) {
				continue
			}
			group = append(groups[g], group...)
			for id := range known[g] {
				ids[id] = true
			}
			groups, known = slices.Delete(groups, g, g+1), slices.Delete(known, g, g+1)
		}
		groups, known = append(groups, group), append(known, ids)
	}
	return groups
}

func overlap(a, b map[string]bool) bool {
	for id := range a {
		if b[id] {
			return true
		}
	}
	return false
}
