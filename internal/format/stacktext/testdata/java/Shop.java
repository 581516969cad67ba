package com.example.shop;

import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

/** Writes the trace of a failure as OpenTelemetry's SDK does, and what the language itself says of its frames. */
public class Shop {
    static class CheckoutException extends RuntimeException {
        CheckoutException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    static class Cart<T> {
        T reserve(String sku) {
            throw new IllegalStateException("no stock of " + sku);
        }

        void checkout() {
            try {
                reserve("SKU-1");
            } catch (IllegalStateException e) {
                throw new CheckoutException("order failed", e);
            }
        }
    }

    static void chained() {
        new Cart<String>().checkout();
    }

    static void suppressed() throws Exception {
        try (Closeable stock = () -> { throw new IOException("close failed"); }) {
            try {
                chained();
            } catch (CheckoutException e) {
                throw new Exception("outer", e);
            }
        }
    }

    static void lambda() {
        Stream.of("a", "1").map(text -> Integer.parseInt(text)).collect(Collectors.toList());
    }

    static void reflection() throws Exception {
        Shop.class.getDeclaredMethod("chained").invoke(null);
    }

    static void multiline() {
        throw new IllegalArgumentException("two\nlines: and\n\tat no.frame(Of.java:1) of it\nCaused by nothing");
    }

    static void async() throws Exception {
        CompletableFuture.supplyAsync(() -> new Cart<String>().reserve("SKU-2")).get();
    }

    static void recursion() {
        recurse(1100);
    }

    static void recurse(int n) {
        if (n > 0) recurse(n - 1);
        chained();
    }

    static void anonymous() {
        new Runnable() {
            public void run() {
                throw new Error();
            }
        }.run();
    }

    static void circular() {
        Exception a = new Exception("a");
        Exception b = new Exception("b", a);
        a.initCause(b);
        throw new RuntimeException(b);
    }

    public static void main(String[] names) throws Exception {
        for (String name : names) {
            try {
                Shop.class.getDeclaredMethod(name).invoke(null);
            } catch (java.lang.reflect.InvocationTargetException wrapped) {
                trace(name, wrapped.getCause());
            }
        }
    }

    static void trace(String name, Throwable e) throws IOException {
        StringWriter text = new StringWriter();
        e.printStackTrace(new PrintWriter(text));
        Files.writeString(Path.of(name + ".txt"), text.toString());
        StringBuilder frames = new StringBuilder();
        write(frames, e, new HashSet<>());
        Files.writeString(Path.of(name + ".frames"), frames.toString());
    }

    /** One line for each exception, the thrown one first, and one for each frame, the outermost first. */
    static void write(StringBuilder out, Throwable e, Set<Throwable> seen) {
        if (e == null || !seen.add(e)) return;
        out.append(e.getClass().getName()).append('\n');
        StackTraceElement[] frames = e.getStackTrace();
        for (int i = frames.length - 1; i >= 0; i--) {
            StackTraceElement f = frames[i];
            out.append("  ").append(f.getClassName()).append('.').append(f.getMethodName());
            if (f.getFileName() != null) out.append(' ').append(f.getFileName());
            if (f.getLineNumber() >= 0) out.append(':').append(f.getLineNumber());
            out.append('\n');
        }
        for (Throwable suppressed : e.getSuppressed()) write(out, suppressed, seen);
        write(out, e.getCause(), seen);
    }
}
