// SPDX-License-Identifier: Apache-2.0

package arttrace

import (
	"errors"
	"fmt"
)

const (
	// maxDepth is how deep stacks are observed. Recorded ones have up to 110 frames, Sentry cuts at 128. It also bounds the search
	// for the method that an exit leaves.
	maxDepth = 1000

	// maxMethods bounds the methods of a trace, and maxThreads its threads: a line of two bytes makes one. The largest recorded table has
	// 8,000 methods; records have 16 bits for threads.
	maxMethods, maxThreads = 1 << 18, 1 << 16

	// observationsPerByte bounds the observations of a trace, whose number depends on its duration and threads rather than on its
	// size, and framesPerByte the frames of the observed stacks, which a trace tells by differences: two records make a new stack
	// of a thousand frames. Recorded traces have 0.1 observations and 0.2 frames for each byte; traces of idle apps have more, for
	// which there is a spare. Beyond the observations the grid is coarser.
	observationsPerByte, framesPerByte = 1, 2

	// bytesOfFrame is how many bytes of a recorded trace make a frame of an observed stack, for the first size of their table.
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
