// SPDX-License-Identifier: Apache-2.0

package sourcemap

import "sort"

// sparse has the places of some elements of a list, in order: those at every sparseEvery-th
// position. A binary search of the whole list would read a place far from all others in each step;
// these fit into the cache of a CPU.
type sparse []place

const sparseEvery = 16

// newSparse returns the places of a list with n elements.
func newSparse(n int, at func(i int) place) sparse {
	x := make(sparse, 0, (n+sparseEvery-1)/sparseEvery)
	for i := 0; i < n; i += sparseEvery {
		x = append(x, at(i))
	}
	return x
}

// search returns the position of the first of n elements that is not before a place.
func (x sparse) search(n int, to place, at func(i int) place) int {
	j := sort.Search(len(x), func(j int) bool { return x[j].compare(to) >= 0 })
	if j == 0 {
		return 0
	}
	first, end := (j-1)*sparseEvery+1, min(j*sparseEvery, n)
	return first + sort.Search(end-first, func(i int) bool { return at(first+i).compare(to) >= 0 })
}
