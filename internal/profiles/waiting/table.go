// SPDX-License-Identifier: Apache-2.0

package waiting

// row lists the functions of one scope in which a thread waits.
type row struct {
	scope  string // Python module, Java class, Go package, Ruby class, or binary
	names  string // of functions
	source string // where they block
}

// table has the functions by runtime. A function is only listed if it does nothing else: one that
// also computes would hide work.
var table = []row{
	// CPython. Native calls have no frame: the innermost one is the Python function around them.
	{"threading", "wait _wait_for_tstate_lock join acquire", "cpython Lib/threading.py: lock.acquire"},
	{"selectors", "select _select", "cpython Lib/selectors.py: select, poll, epoll.poll, kqueue.control"},
	{"socket", "accept readinto", "cpython Lib/socket.py: socket._accept, recv_into"},
	{"ssl", "recv recv_into read accept", "cpython Lib/ssl.py: SSLObject.read"},
	{"subprocess", "_wait wait", "cpython Lib/subprocess.py: os.waitpid"},
	{"multiprocessing.connection", "_recv wait accept", "cpython Lib/multiprocessing/connection.py: os.read, selector.select"},
	{"multiprocessing.popen_fork", "poll wait", "cpython Lib/multiprocessing/popen_fork.py: os.waitpid"},
	{"concurrent.futures.thread", "_worker", "cpython Lib/concurrent/futures/thread.py: SimpleQueue.get"},
	{"gevent._threading", "acquire_with_timeout wait", "gevent src/gevent/_threading.py: lock.acquire"},
	{"gevent.hub", "run", "gevent src/gevent/hub.py: loop.run"},
	{"gunicorn.arbiter", "sleep", "gunicorn arbiter.py: select"},
	{"gunicorn.workers.sync", "wait", "gunicorn workers/sync.py: select"},
	{"sentry_sdk.monitor", "_thread", "sentry-python monitor.py: sleep"},
	{"sentry_sdk.sessions", "_thread", "sentry-python sessions.py: sleep"},
	{"sentry_sdk.worker", "_target", "sentry-python worker.py: queue.get"},
	{"sentry_sdk._batcher", "_flush_loop", "sentry-python _batcher.py: Event.wait"},
	{"sentry_sdk.profiler", "_sample_stack run", "sentry-python 1.x profiler.py: the sampler itself"},
	{"sentry_sdk.profiler.transaction_profiler", "_sample_stack run", "sentry-python: the sampler itself"},
	{"sentry_sdk.profiler.continuous_profiler", "_sample_stack run", "sentry-python: the sampler itself"},

	// JVM and Android.
	{"jdk.internal.misc.Unsafe", "park", "OpenJDK Unsafe.java: LockSupport.park"},
	{"sun.misc.Unsafe", "park", "OpenJDK 8, Android"},
	{"java.util.concurrent.locks.LockSupport", "park parkNanos parkUntil", "OpenJDK LockSupport.java"},
	{"java.lang.Object", "wait wait0", "OpenJDK Object.java"},
	{"java.lang.Thread", "sleep sleep0 sleepNanos sleepNanos0", "OpenJDK Thread.java"},
	{"java.lang.ref.Reference", "waitForReferencePendingList", "OpenJDK Reference.java: the reference handler"},
	{"java.lang.ProcessHandleImpl", "waitForProcessExit0", "OpenJDK ProcessHandleImpl.java"},
	{"java.net.SocketInputStream", "socketRead0", "OpenJDK 8 SocketInputStream.java"},
	{"java.net.PlainSocketImpl", "socketAccept", "OpenJDK 8 PlainSocketImpl.java"},
	{"sun.nio.ch.Net", "poll accept", "OpenJDK Net.java"},
	{"sun.nio.ch.EPoll", "wait", "OpenJDK EPoll.java: epoll_wait"},
	{"sun.nio.ch.EPollArrayWrapper", "epollWait", "OpenJDK 8"},
	{"sun.nio.ch.KQueue", "poll", "OpenJDK KQueue.java: kevent"},
	{"sun.nio.ch.WEPoll", "wait", "OpenJDK WEPoll.java"},
	{"io.netty.channel.epoll.Native", "epollWait epollWait0", "netty Native.java"},
	{"io.netty.channel.kqueue.Native", "keventWait", "netty Native.java"},
	{"android.os.MessageQueue", "nativePollOnce", "AOSP MessageQueue.java: the looper"},
	{"java.lang.VMThread", "sleep", "AOSP 4 VMThread.java"},

	// Go. Profilers omit the functions of the runtime above those that call it.
	{"runtime", "gopark park_m netpollblock notesleep notetsleep notetsleepg notetsleep_internal futexsleep selectgo block", "go src/runtime"},
	{"internal/poll", "runtime_pollWait", "go src/runtime/netpoll.go"},
	{"sync", "runtime_Semacquire runtime_SemacquireWaitGroup runtime_SemacquireMutex runtime_SemacquireRWMutex runtime_SemacquireRWMutexR runtime_notifyListWait", "go src/runtime/sema.go"},
	{"internal/sync", "runtime_SemacquireMutex", "go src/runtime/sema.go"},
	{"time", "Sleep", "go src/runtime/time.go"},
	{"os/signal", "signal_recv", "go src/runtime/sigqueue.go"},
	{"net/http", "writeLoop readLoop roundTrip", "go src/net/http/transport.go: a select statement"},
	{"github.com/getsentry/sentry-go", "worker collectRecords", "sentry-go transport.go: a channel; profiler.go: the sampler itself"},

	// .NET.
	{"System.Threading.Monitor", "Wait ObjWait", "dotnet/runtime Monitor.cs"},
	{"System.Threading.Thread", "Sleep SleepInternal Join JoinInternal", "dotnet/runtime Thread.cs"},
	{"System.Threading.WaitHandle", "WaitOneNoCheck WaitOneCore WaitMultipleIgnoringSyncContext", "dotnet/runtime WaitHandle.cs"},
	{"System.Threading.LowLevelLifoSemaphore", "WaitForSignal WaitNative", "dotnet/runtime: workers of the thread pool"},

	// Ruby.
	{"Kernel", "sleep select", "ruby process.c, io.c"},
	{"Thread", "join value", "ruby thread.c"},
	{"Thread::Queue", "pop", "ruby thread_sync.c"},
	{"Thread::ConditionVariable", "wait", "ruby thread_sync.c"},
	{"Thread::Mutex", "sleep lock", "ruby thread_sync.c"},
	{"IO", "select wait_readable wait", "ruby io.c"},

	// Native code, by binary. Names with underscores are those of symbol tables.
	{"libsystem_kernel.dylib", "mach_msg_trap mach_msg2_trap mach_msg_overwrite_trap __psynch_cvwait __psynch_mutexwait __psynch_rw_rdlock __psynch_rw_wrlock __workq_kernreturn semaphore_wait_trap semaphore_timedwait_trap __semwait_signal __semwait_signal_nocancel kevent kevent64 kevent_id kevent_qos __select poll __ulock_wait __ulock_wait2 __accept __recvfrom __sigwait __wait4 __sigsuspend_nocancel", "xnu bsd/kern/syscalls.master, osfmk/mach/mach_traps.h"},
	{"libc.so", "epoll_wait epoll_pwait __epoll_pwait epoll_pwait2 poll __poll ppoll __ppoll __GI___poll select __select pselect __pselect6 nanosleep __nanosleep clock_nanosleep __clock_nanosleep pthread_cond_wait pthread_cond_timedwait __pthread_cond_wait __pthread_cond_timedwait __futex_abstimed_wait_common __futex_abstimed_wait_common64 futex_wait __futex_wait_ex accept accept4 __accept4 recv __recv recvfrom __recvfrom recvmsg __recvmsg sem_wait sem_timedwait wait4 __wait4 waitid sigwaitinfo __rt_sigtimedwait", "glibc, musl and bionic: system calls"},
	{"libpthread.so", "pthread_cond_wait pthread_cond_timedwait __pthread_cond_wait __pthread_cond_timedwait __lll_lock_wait do_futex_wait futex_wait_cancelable accept recv sem_wait", "glibc before 2.34"},
	{"libart.so", "_ZN3art17ConditionVariable16WaitHoldingLocksEPNS_6ThreadE _ZN3art17ConditionVariable9TimedWaitEPNS_6ThreadElli art::ConditionVariable::WaitHoldingLocks art::ConditionVariable::TimedWait", "AOSP art/runtime/base/mutex.cc"},
}
