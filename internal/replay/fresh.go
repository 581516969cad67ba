// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"slices"
	"time"
)

// Freshen derives new requests from recorded ones. It assigns new IDs, and shifts all times so that
// the newest one is about a second old. Everything else remains the same, byte for byte. IDs and
// times are overwritten in place, with the same length, so that the `length` of items remains
// correct.
//
// An old ID becomes the same new ID in all requests, so that a chunk still belongs to its
// transaction, which may be in another request. For the same reason, requests with a common ID are
// shifted by the same time.
func Freshen(bodies [][]byte, now time.Time) [][]byte {
	fresh := newIDs()
	result := slices.Clone(bodies)
	for _, run := range runs(bodies) {
		newest := int64(0)
		for _, i := range run {
			newest = max(newest, newestSecond(bodies[i]))
		}
		for _, i := range run {
			result[i] = fresh.replace(shift(bodies[i], newest, now.Unix()-1-newest))
		}
	}
	return result
}

// runs groups bodies (by index) with common IDs, directly or through others: they are from one run
// of an SDK.
func runs(bodies [][]byte) [][]int {
	var groups [][]int
	var known []map[string]bool // the IDs of each group
	for i, body := range bodies {
		group, ids := []int{i}, idsIn(body)
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
