// SPDX-License-Identifier: Apache-2.0

package arttrace

// methodIndex finds methods by their IDs. ART counts IDs from 0, in steps of 4; older versions use
// addresses.
type methodIndex struct {
	counted []int32 // index plus one, by a quarter of the ID
	others  map[uint32]int32
}

func newMethodIndex(methods []Method) methodIndex {
	m := methodIndex{counted: make([]int32, 2*len(methods)), others: map[uint32]int32{}}
	for i, method := range methods {
		if _, known := m.get(method.ID); !known {
			m.add(method.ID, int32(i))
		}
	}
	return m
}

func (m *methodIndex) get(id uint32) (index int32, known bool) {
	if quarter := id >> 2; int(quarter) < len(m.counted) {
		index = m.counted[quarter] - 1
		return index, index >= 0
	}
	index, known = m.others[id]
	return index, known
}

func (m *methodIndex) add(id uint32, index int32) {
	if quarter := id >> 2; int(quarter) < len(m.counted) {
		m.counted[quarter] = index + 1
	} else {
		m.others[id] = index
	}
}
