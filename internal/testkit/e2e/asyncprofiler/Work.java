// SPDX-License-Identifier: Apache-2.0

/** Computes on the thread worker-1 for some milliseconds; the main thread mostly sleeps. */
public class Work {
    static double sink;

    static double checkout(int items) {
        double sum = 0;
        for (int i = 1; i < items; i++) {
            sum += Math.sqrt(i) * price(i);
        }
        return sum;
    }

    static double price(int item) {
        return Math.sin(item) / item;
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000L;
        Thread worker = new Thread(() -> {
            while (System.nanoTime() < end) {
                sink += checkout(20_000);
            }
        }, "worker-1");
        worker.start();
        while (System.nanoTime() < end) {
            sink += checkout(5_000);
            Thread.sleep(20);
        }
        worker.join();
        System.out.println(sink);
    }
}
