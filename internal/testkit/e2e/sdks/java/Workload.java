import io.sentry.*;
import io.sentry.protocol.SentrySpan;
import io.sentry.protocol.SentryTransaction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.*;
import java.util.function.LongConsumer;
import java.util.regex.*;
import java.util.stream.Collectors;

/**
 * What a small shop does, with Sentry's Java SDK. SENTRY_DSN says where to, the argument how to profile.
 *
 * <p>Prints as JSON what the SDK was about to send and what it says it has dropped, and how long the busy functions took.
 */
public final class Workload {
  static final int ROUNDS = 10;
  static final Pattern CHUNK_ID = Pattern.compile("\"chunk_id\":\"([0-9a-f]{32})\"");

  static final List<String> spans = sync(), profiles = sync(), errors = sync(), logs = sync();
  static final Map<String, Long> dropped = Collections.synchronizedMap(new TreeMap<>());
  static final Map<String, Busy> busy = Collections.synchronizedMap(new TreeMap<>());

  record Busy(String function, String span, String thread, double seconds) {}

  static List<String> sync() { return Collections.synchronizedList(new ArrayList<>()); }

  static void note(SentryEnvelope envelope, ISerializer serializer) {
    for (SentryEnvelopeItem item : envelope.getItems()) {
      try {
        switch (item.getHeader().getType()) {
          case Transaction -> note(item.getTransaction(serializer));
          case Event -> errors.add(item.getEvent(serializer).getEventId().toString());
          case Log -> item.getLogs(serializer).getItems().forEach(log -> logs.add(log.getBody()));
          case ProfileChunk -> {
            Matcher id = CHUNK_ID.matcher(new String(item.getData(), StandardCharsets.UTF_8));
            if (id.find()) profiles.add(id.group(1));
          }
          default -> {}
        }
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  static void note(SentryTransaction transaction) {
    SpanContext root = transaction.getContexts().getTrace();
    spans.add(root.getTraceId() + "/" + root.getSpanId());
    for (SentrySpan span : transaction.getSpans()) spans.add(span.getTraceId() + "/" + span.getSpanId());
  }

  static double spin(long milliseconds) {
    long end = System.nanoTime() + milliseconds * 1_000_000;
    double x = 1;
    while (System.nanoTime() < end) for (int i = 0; i < 100; i++) x = Math.sqrt(x + 1.7);
    return x;
  }
  static double sink;
  static void priceCart(long milliseconds) { sink = spin(milliseconds); }
  static void checkStock(long milliseconds) { sink = spin(milliseconds); }
  static void renderPage(long milliseconds) { sink = spin(milliseconds); }
  static void compressPage(long milliseconds) { sink = spin(milliseconds); }

  static void run(ISpan parent, String function, LongConsumer work, long milliseconds, String thread, String name) {
    ISpan span = parent.startChild("task", name);
    long start = System.nanoTime();
    work.accept(milliseconds);
    double took = (System.nanoTime() - start) / 1e9;
    span.finish();
    busy.merge(name, new Busy(function, name, thread, took), (a, b) -> new Busy(a.function, a.span, a.thread, a.seconds + b.seconds));
  }

  static void checkout() {
    ITransaction root = Sentry.startTransaction("checkout", "task");
    for (int i = 0; i < ROUNDS; i++) {
      ISpan order = root.startChild("task", "order");
      run(order, "priceCart", Workload::priceCart, 350, "main", "price");
      run(order, "checkStock", Workload::checkStock, 150, "main", "stock");
      order.finish();
    }
    root.finish();
  }

  static void report() {
    ITransaction root = Sentry.startTransaction("report", "task");
    for (int i = 0; i < ROUNDS; i++) {
      run(root, "renderPage", Workload::renderPage, 300, "reports", "render");
      run(root, "compressPage", Workload::compressPage, 200, "reports", "compress");
    }
    root.finish();
  }

  /** Sends three errors, one after the other: the effect of a response on the SDK shows in the next errors. */
  static void answers() {
    for (int i = 0; i < 3; i++) {
      Sentry.captureException(new IllegalStateException("coupon"));
      Sentry.flush(10_000);
    }
    Sentry.close();
    print();
  }

  public static void main(String[] arguments) throws Exception {
    boolean manual = arguments[0].equals("manual"), profiled = !List.of("none", "answers").contains(arguments[0]);
    String traces = Files.createTempDirectory("traces").toString();
    Sentry.init(options -> {
      options.setDsn(System.getenv("SENTRY_DSN"));
      options.setRelease("shop@1.0.0");
      options.setTracesSampleRate(1.0);
      if (profiled) options.setProfileSessionSampleRate(1.0);
      options.setProfileLifecycle(manual ? ProfileLifecycle.MANUAL : ProfileLifecycle.TRACE);
      options.setProfilingTracesDirPath(traces);
      options.getLogs().setEnabled(true);
      options.setBeforeEnvelopeCallback((envelope, hint) -> note(envelope, options.getSerializer()));
      options.setOnDiscard((reason, category, number) -> dropped.merge(category.getCategory() + " " + reason.getReason(), number, Long::sum));
    });
    if (arguments[0].equals("answers")) {
      answers();
      return;
    }
    if (manual) Sentry.startProfiler();
    Thread reports = new Thread(Workload::report, "reports");
    reports.start();
    checkout();
    reports.join();
    Sentry.captureException(new IllegalStateException("coupon"));
    Sentry.logger().warn("stock low");
    if (manual) Sentry.stopProfiler();
    Thread.sleep(2000); // the profiler stops, and its recording is converted, on threads of the SDK
    Sentry.close();
    print();
  }

  static void print() {
    System.out.println("{\"version\":\"" + BuildConfig.VERSION_NAME + "\",\"spans\":" + json(spans) + ",\"profiles\":" + json(profiles)
        + ",\"errors\":" + json(errors) + ",\"logs\":" + json(logs)
        + ",\"dropped\":{" + dropped.entrySet().stream().map(d -> '"' + d.getKey() + "\":" + d.getValue()).collect(Collectors.joining(",")) + "}"
        + ",\"busy\":[" + busy.values().stream().map(b -> String.format(Locale.ROOT,
            "{\"function\":\"%s\",\"span\":\"%s\",\"thread\":\"%s\",\"seconds\":%f}", b.function, b.span, b.thread, b.seconds))
            .collect(Collectors.joining(",")) + "]}");
  }

  static String json(List<String> list) {
    return list.stream().map(text -> '"' + text + '"').collect(Collectors.joining(",", "[", "]"));
  }
}
