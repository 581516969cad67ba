// SPDX-License-Identifier: Apache-2.0

// A program with inlined functions, for TestSymbolizer.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace shop {

struct Item {
  std::string name;
  int cents;

  inline int tax(int percent) const { return cents * percent / 100; }
  inline int price() const { return cents + tax(19); }
};

template <typename T>
class Cart {
 public:
  void add(const T& item) { items_.push_back(item); }

  int total() const {
    int sum = 0;
    for (const auto& item : items_) sum += item.price();
    return sum;
  }

  __attribute__((noinline)) void sort() {
    std::sort(items_.begin(), items_.end(), [](const T& a, const T& b) { return a.price() < b.price(); });
  }

 private:
  std::vector<T> items_;
};

static __attribute__((noinline)) int fail(int n) { throw std::string("no item ") + std::to_string(n); }

}  // namespace shop

int main(int argc, char** argv) {
  shop::Cart<shop::Item> cart;
  std::map<std::string, int> names;
  for (int i = 0; i < argc * 10; i++) {
    cart.add({argv[0], i * 100});
    names[argv[i % argc]]++;
  }
  cart.sort();
  if (argc > 5) shop::fail(argc);
  std::printf("%d %zu\n", cart.total(), names.size());
}
