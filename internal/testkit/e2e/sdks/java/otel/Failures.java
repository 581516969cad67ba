// SPDX-License-Identifier: Apache-2.0

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.logs.Logger;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.exporter.otlp.http.logs.OtlpHttpLogRecordExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.logs.SdkLoggerProvider;
import io.opentelemetry.sdk.logs.export.BatchLogRecordProcessor;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.sentry.Sentry;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Fails in several ways under one of two SDKs: Failures otel|sentry spans|logs|dup
 *
 * <p>The functions that fail are the same, so both SDKs see the same stacks. Each failure has a message of its own.
 */
public class Failures {
  static class PaymentError extends RuntimeException {
    PaymentError(String message) {
      super(message);
    }
  }

  static class OrderError extends RuntimeException {
    OrderError(String message, Throwable cause) {
      super(message, cause);
    }
  }

  static String sdk;
  static String mode;
  static String current;
  static Tracer tracer;
  static Logger logger;

  static Object pay() {
    throw new PaymentError("card declined: " + current);
  }

  static Object chained() {
    try {
      return pay();
    } catch (PaymentError e) {
      throw new OrderError("order 17", new IllegalStateException("no stock", e));
    }
  }

  static Object nested() throws Exception {
    return within("inner", () -> within("innermost", Failures::pay));
  }

  static Object asynchronous() {
    return CompletableFuture.supplyAsync(Failures::pay).join();
  }

  static Object reraised() {
    try {
      return pay();
    } catch (PaymentError e) {
      throw e;
    }
  }

  static Object library() {
    return Integer.parseInt("seventeen");
  }

  static Object recursive() {
    return recursive(20);
  }

  static Object recursive(int n) {
    return n > 0 ? recursive(n - 1) : pay();
  }

  static Object lambdas() {
    return List.of(1).stream().map(item -> pay()).toList();
  }

  /** Runs a function in a span, which records its exception. Sentry's SDK has no part in it. */
  static Object within(String name, Callable<?> work) throws Exception {
    Span span = tracer == null ? Span.getInvalid() : tracer.spanBuilder(name).startSpan();
    try (Scope scope = span.makeCurrent()) {
      return work.call();
    } catch (Exception e) {
      if (!mode.equals("logs")) {
        span.recordException(e);
      }
      span.setStatus(StatusCode.ERROR);
      throw e;
    } finally {
      span.end();
    }
  }

  static Object observe(Callable<?> work) throws Exception {
    try {
      return within(current, work);
    } catch (Exception e) {
      if (sdk.equals("sentry")) {
        Sentry.captureException(e);
      } else if (!mode.equals("spans")) {
        log(e);
      }
      return null;
    }
  }

  static void log(Exception e) {
    StringWriter stack = new StringWriter();
    e.printStackTrace(new PrintWriter(stack));
    logger
        .logRecordBuilder()
        .setSeverity(Severity.ERROR)
        .setBody("failed")
        .setAttribute(AttributeKey.stringKey("exception.type"), e.getClass().getName())
        .setAttribute(AttributeKey.stringKey("exception.message"), e.getMessage())
        .setAttribute(AttributeKey.stringKey("exception.stacktrace"), stack.toString())
        .emit();
  }

  public static void main(String[] args) throws Exception {
    sdk = args[0];
    mode = args[1];
    Runnable flush = sdk.equals("sentry") ? startSentry() : startOpenTelemetry();
    Map<String, Callable<?>> cases = new LinkedHashMap<>();
    cases.put("pay", Failures::pay);
    cases.put("chained", Failures::chained);
    cases.put("nested", Failures::nested);
    cases.put("asynchronous", Failures::asynchronous);
    cases.put("reraised", Failures::reraised);
    cases.put("library", Failures::library);
    cases.put("recursive", Failures::recursive);
    cases.put("lambdas", Failures::lambdas);
    for (Map.Entry<String, Callable<?>> entry : cases.entrySet()) {
      current = entry.getKey();
      within("request", () -> observe(entry.getValue()));
    }
    flush.run();
    System.out.println(cases.size());
  }

  static Runnable startSentry() {
    Sentry.init(options -> options.setDsn(System.getenv("SENTRY_DSN")));
    return Sentry::close;
  }

  static Runnable startOpenTelemetry() {
    String url = System.getenv("OTLP");
    Resource resource = Resource.getDefault().merge(Resource.builder().put("service.name", "shop").build());
    SdkTracerProvider traces =
        SdkTracerProvider.builder()
            .setResource(resource)
            .addSpanProcessor(BatchSpanProcessor.builder(OtlpHttpSpanExporter.builder().setEndpoint(url + "/v1/traces").build()).build())
            .build();
    SdkLoggerProvider logs =
        SdkLoggerProvider.builder()
            .setResource(resource)
            .addLogRecordProcessor(BatchLogRecordProcessor.builder(OtlpHttpLogRecordExporter.builder().setEndpoint(url + "/v1/logs").build()).build())
            .build();
    tracer = traces.get("failures");
    logger = logs.get("failures");
    return () -> {
      traces.shutdown().join(30, TimeUnit.SECONDS);
      logs.shutdown().join(30, TimeUnit.SECONDS);
    };
  }
}
