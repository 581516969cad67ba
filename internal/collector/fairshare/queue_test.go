// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// entry is one of the naive model: a plain list in order of arrival.
type entry struct {
	tenant string
	value  int
	size   int64
}

type model []entry

func (m model) use(tenant string) (sum int64) {
	for _, e := range m {
		if e.tenant == tenant {
			sum += e.size
		}
	}
	return sum
}

func (m model) size() (sum int64) {
	for _, e := range m {
		sum += e.size
	}
	return sum
}

// TestQueueAgainstList compares a queue with a list on random pushes, renewals and removals.
func TestQueueAgainstList(t *testing.T) {
	tenants := []string{"a", "b", "c", "d"}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		var q Queue[string, int]
		var want model
		var entries []*Entry[string, int]
		for i := range 300 {
			switch n := len(want); {
			case n == 0 || random.IntN(3) > 0:
				e := entry{tenants[random.IntN(len(tenants))], i, random.Int64N(5)}
				want = append(want, e)
				entries = append(entries, q.Push(e.tenant, e.value, e.size))
			case random.IntN(3) == 0:
				k := random.IntN(n)
				q.Renew(entries[k])
				want = append(slices.Delete(slices.Clone(want), k, k+1), want[k])
				entries = append(slices.Delete(slices.Clone(entries), k, k+1), entries[k])
			default:
				k := random.IntN(n)
				switch random.IntN(3) {
				case 0:
					k = 0
				case 1:
					k = slices.Index(entries, q.LargestOldest())
				}
				q.Remove(entries[k])
				q.Remove(entries[k]) // does nothing
				q.Renew(entries[k])  // neither
				want, entries = slices.Delete(want, k, k+1), slices.Delete(entries, k, k+1)
			}
			check(t, &q, want, tenants)
		}
	}
}

func check(t *testing.T, q *Queue[string, int], want model, tenants []string) {
	t.Helper()
	if q.Len() != len(want) || q.Size() != want.size() {
		t.Fatalf("Len, Size = %d, %d, want %d, %d", q.Len(), q.Size(), len(want), want.size())
	}
	i, most, present := 0, int64(-1), 0
	for e := q.Oldest(); e != nil; e = e.Newer() {
		if (entry{e.Tenant(), e.Value, e.Size()}) != want[i] {
			t.Fatalf("entry %d is %v %v %v, want %v", i, e.Tenant(), e.Value, e.Size(), want[i])
		}
		i++
	}
	for _, name := range tenants {
		if q.Use(name) != want.use(name) {
			t.Fatalf("Use(%s) = %d, want %d", name, q.Use(name), want.use(name))
		}
		first := slices.IndexFunc(want, func(e entry) bool { return e.tenant == name })
		if oldest := q.OldestOf(name); (oldest == nil) != (first < 0) || oldest != nil && oldest.Value != want[first].value {
			t.Fatalf("OldestOf(%s) = %v, want entry %d", name, oldest, first)
		}
		if slices.ContainsFunc(want, func(e entry) bool { return e.tenant == name }) {
			present++
			most = max(most, want.use(name))
		}
	}
	if q.Tenants() != present {
		t.Fatalf("Tenants = %d, want %d", q.Tenants(), present)
	}
	if len(want) == 0 {
		if q.LargestOldest() != nil || q.Oldest() != nil {
			t.Fatal("an empty queue has an oldest entry")
		}
		return
	}
	victim := q.LargestOldest()
	first := slices.IndexFunc(want, func(e entry) bool { return e.tenant == victim.Tenant() })
	if want.use(victim.Tenant()) != most || want[first].value != victim.Value {
		t.Fatalf("LargestOldest is %d of %s, which uses %d; the most is %d and its oldest %d",
			victim.Value, victim.Tenant(), want.use(victim.Tenant()), most, want[first].value)
	}
}

// TestSmallTenantLosesNothing: whatever the others push, a tenant below an equal share keeps every
// entry.
func TestSmallTenantLosesNothing(t *testing.T) {
	const limit = 100
	for _, greedy := range [][]string{{"x"}, {"x", "y"}, {"x", "y", "z"}} {
		random := rand.New(rand.NewPCG(uint64(len(greedy)), 2))
		var q Queue[string, int]
		small := 0
		for i := range 5000 {
			tenant, size := greedy[random.IntN(len(greedy))], 1+random.Int64N(10)
			if q.Use("small")+1 <= limit/int64(len(greedy)+1) && i%50 == 0 {
				tenant, size = "small", 1
				small++
			}
			q.Push(tenant, i, size)
			for q.Size() > limit {
				q.Remove(q.LargestOldest())
			}
		}
		if got := q.Use("small"); got != int64(small) || small == 0 {
			t.Errorf("beside %d greedy tenants, %d of %d entries of a small tenant are left", len(greedy), got, small)
		}
	}
}

// TestTurns: tenants take turns in the order of their first entries; one that returns is the last.
func TestTurns(t *testing.T) {
	var q Queue[string, int]
	for i, tenant := range []string{"a", "a", "a", "b", "c", "b"} {
		q.Push(tenant, i, 1)
	}
	take := func(newest bool) (turns []int) {
		for range q.Len() {
			first, last := q.TakeTurn()
			if newest {
				first = last
			}
			turns = append(turns, first.Value)
			q.Remove(first)
			if first.Value == 3 {
				q.Push("b", 6, 1)
				q.Push("d", 7, 1)
			}
		}
		return turns
	}
	if got, want := take(false), []int{0, 3, 4, 1, 5, 7}; !slices.Equal(got, want) {
		t.Errorf("oldest in turn: %v, want %v", got, want)
	}
	if got, want := take(true), []int{2, 6}; !slices.Equal(got, want) {
		t.Errorf("newest in turn: %v, want %v", got, want)
	}
	if oldest, newest := q.TakeTurn(); oldest != nil || newest != nil {
		t.Error("an empty queue has a tenant")
	}
}
