// SPDX-License-Identifier: Apache-2.0

//go:build unix && !solaris && !aix

package symbolicateprocessor

import (
	"os"
	"syscall"
)

// lockFile locks a file, and reports whether no other open file has the lock, also of this process.
func lockFile(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
