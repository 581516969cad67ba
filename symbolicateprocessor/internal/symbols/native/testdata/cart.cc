// SPDX-License-Identifier: Apache-2.0

// shop.cc without the standard library, which takes a second to compile: for the small size of the
// tests.
extern "C" int printf(const char*, ...);

namespace shop {

struct Item {
  int cents;

  inline int tax(int percent) const { return cents * percent / 100; }
  inline int price() const { return cents + tax(19); }
};

template <typename T>
class Cart {
 public:
  void add(const T& item) { items_[count_++ % 100] = item; }

  int total() const {
    int sum = 0;
    for (int i = 0; i < count_; i++) sum += items_[i].price();
    return sum;
  }

  __attribute__((noinline)) void sort() {
    for (int i = 1; i < count_; i++) {
      for (int j = i; j > 0 && items_[j].price() < items_[j - 1].price(); j--) {
        T item = items_[j];
        items_[j] = items_[j - 1];
        items_[j - 1] = item;
      }
    }
  }

 private:
  T items_[100];
  int count_ = 0;
};

static __attribute__((noinline)) int fail(int n) { throw n; }

}  // namespace shop

int main(int argc, char** argv) {
  shop::Cart<shop::Item> cart;
  for (int i = 0; i < argc * 10; i++) {
    cart.add({argv[0][0] * i});
  }
  cart.sort();
  if (argc > 5) shop::fail(argc);
  printf("%d\n", cart.total());
}
