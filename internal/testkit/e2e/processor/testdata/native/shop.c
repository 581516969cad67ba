// The call of fail is the last instruction of reserve, so that its return address is in checkout.
__attribute__((noreturn, noinline)) void fail(int code) {
  for (;;) __asm__ volatile("" : : "r"(code));
}

__attribute__((noinline)) void reserve(int code) { fail(code + 1); }

__attribute__((noinline)) int checkout(int code) {
  if (code > 3) reserve(code);
  return code * 2;
}
