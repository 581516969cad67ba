// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"reflect"
	"slices"

	"go.opentelemetry.io/collector/consumer/consumererror"
)

var permanent = reflect.TypeOf(consumererror.NewPermanent(nil))

// IsPermanent reports whether a retry cannot succeed. The errors of several pipelines of a signal
// are joined, and one busy pipeline is reason enough to retry, whereas consumererror.IsPermanent
// reports true for any permanent error among them. Errors joined inside a permanent error do not
// matter.
func IsPermanent(err error) bool {
	for err != nil && reflect.TypeOf(err) != permanent {
		switch outer := err.(type) {
		case interface{ Unwrap() []error }:
			all := outer.Unwrap()
			return len(all) > 0 && !slices.ContainsFunc(all, func(err error) bool { return !IsPermanent(err) })
		case interface{ Unwrap() error }:
			err = outer.Unwrap()
		default:
			return false
		}
	}
	return err != nil
}
