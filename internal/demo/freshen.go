// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"time"
)

// freshen derives new requests from recorded ones: with new IDs, and with times that end now.
// Everything else remains the same, byte for byte. IDs and times are overwritten in place, with the
// same length, so that the `length` of items remains correct.
//
// An old ID becomes the same new ID in all requests, so that a chunk still belongs to its
// transaction in another request. For the same reason, requests with a common ID are shifted by the
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

// runs groups recordings (by index) with common IDs, directly or through others: they are from one
// run of an SDK.
func runs(recordings []recording) [][]int {
	var groups [][]int
	var known []map[string]bool // the IDs of each group
	for i, r := range recordings {
		group, ids := []int{i}, idsIn(r.body)
		// This group includes every group with a common ID.
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
