// SPDX-License-Identifier: Apache-2.0

package cart

type Cart[T any] struct{ Items []T }

func (c *Cart[T]) Item(i int) T { return c.Items[i] }

func Each[T any](list []T, f func(T)) {
	for _, item := range list {
		f(item)
	}
}

type Stock struct{}

func (Stock) Reserve(sku string, more ...any) { panic("no stock of " + sku) }
