// Prints the stacks of its leaves, innermost first: class, method, descriptor, file and line of each frame. An empty line ends a stack.
package io.example.shop;

import java.util.List;
import java.util.function.IntUnaryOperator;

public class Shop {
  interface Visitor {
    int visit(Item item);
  }

  static final class Item {
    final String name;
    final int price;

    Item(String name, int price) {
      this.name = name;
      this.price = price;
      if (price > 90) {
        leaf();
      }
    }

    int taxed(int percent) {
      int tax = price * percent / 100;
      leaf();
      return price + tax;
    }
  }

  static class Cart {
    private final List<Item> items;

    Cart(List<Item> items) {
      this.items = items;
    }

    int total() {
      return total(item -> total(item, 19));
    }

    int total(Visitor visitor) {
      int sum = 0;
      for (Item item : items) {
        sum += visitor.visit(item);
      }
      return sum;
    }

    int total(Item item, int percent) {
      return item.taxed(percent);
    }

    int total(int[] prices, IntUnaryOperator discount) {
      int sum = 0;
      for (int price : prices) {
        sum += discount.applyAsInt(price);
      }
      leaf();
      return sum;
    }
  }

  class Checkout {
    int pay(Cart cart) {
      return cart.total() + cart.total(new int[] {1, 2}, price -> price / 2);
    }
  }

  public static void main(String[] arguments) {
    Item expensive = new Item("piano", 99);
    Cart cart = new Cart(List.of(new Item("chair", 40 + arguments.length)));
    System.exit(new Shop().new Checkout().pay(cart) + expensive.price > 0 ? 0 : 1);
  }

  static void leaf() {
    StackWalker.getInstance(java.util.Set.of(StackWalker.Option.RETAIN_CLASS_REFERENCE)).forEach(frame -> System.out.println(
        frame.getClassName() + "\t" + frame.getMethodName() + "\t" + frame.getDescriptor() + "\t" + frame.getFileName() + "\t"
            + frame.getLineNumber()));
    System.out.println();
  }
}
