// SPDX-License-Identifier: Apache-2.0

package arttrace

import (
	"errors"
	"fmt"
)

const (
	// maxDepth is the maximum depth of observed stacks. Recorded stacks have up to 110 frames, and
	// Sentry truncates at 128. It also bounds the search for the method of an exit.
	maxDepth = 1000

	// maxMethods is the maximum number of methods in a trace, and maxThreads that of threads: a
	// line of two bytes adds one. The largest recorded table has 8,000 methods; records have 16
	// bits for threads.
	maxMethods, maxThreads = 1 << 18, 1 << 16

	// observationsPerByte limits the observations of a trace, which depend on its duration and
	// threads rather than its size. framesPerByte limits the frames of observed stacks: two records
	// can represent a new stack of a thousand frames. Recorded traces have 0.1 observations and 0.2
	// frames per byte. Traces of idle apps have more; the spare observations are for them. Above
	// the limit, the interval between observations is increased.
	observationsPerByte, framesPerByte = 1, 2

	// bytesOfFrame is the number of bytes of a recorded trace for each frame of an observed stack.
	// It determines the initial size of the table.
	bytesOfFrame = 16
)

// The errors of this package, for errors.Is.
var (
	ErrMalformed = errors.New("no method trace of ART")
	ErrTooLarge  = errors.New("method trace too large")
	ErrEmpty     = errors.New("method trace without observations")
)

var (
	errManyMethods = fmt.Errorf("%w: more than %d methods", ErrTooLarge, maxMethods)
	errManyThreads = fmt.Errorf("%w: more than %d threads", ErrTooLarge, maxThreads)
)
