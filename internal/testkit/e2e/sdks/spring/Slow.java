package shop;

import io.sentry.ISpan;
import io.sentry.Sentry;
import java.nio.file.Files;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/**
 * A shop with a slow function, a slow query and a lock, with Sentry's SDK for Spring. SENTRY_DSN says where to.
 *
 * <p>Prints its port, and serves until its input ends.
 */
@SpringBootApplication
@RestController
public class Slow {
  static final String SLOW = "SELECT count(*) FROM orders, system_range(1, 3000000) WHERE customer = ? AND mod(x, 7) = 3";

  private final JdbcTemplate database;
  private final ReentrantLock stock = new ReentrantLock();

  Slow(JdbcTemplate database) {
    this.database = database;
    database.execute("CREATE TABLE orders (id IDENTITY PRIMARY KEY, customer INT)");
    database.execute("INSERT INTO orders (customer) VALUES (1), (2), (3)");
  }

  @GetMapping("/report/{month}")
  String report(@PathVariable int month) {
    return String.valueOf(priceReport(month));
  }

  double priceReport(int month) {
    long end = System.nanoTime() + 400_000_000L;
    double total = month;
    while (System.nanoTime() < end) for (int i = 0; i < 100; i++) total = Math.sqrt(total + 1.7);
    return total;
  }

  @GetMapping("/orders/{customer}")
  String orders(@PathVariable int customer) {
    ISpan span = Sentry.getSpan().startChild("db.query", SLOW); // as sentry-jdbc does
    span.setData("db.system", "h2");
    try {
      return String.valueOf(database.queryForObject(SLOW, Integer.class, customer));
    } finally {
      span.finish();
    }
  }

  @GetMapping("/cart/{item}")
  String cart(@PathVariable int item) throws InterruptedException {
    reserveStock();
    return String.valueOf(item);
  }

  void reserveStock() throws InterruptedException {
    stock.lock();
    try {
      Thread.sleep(30);
    } finally {
      stock.unlock();
    }
  }

  public static void main(String[] arguments) throws Exception {
    SpringApplication program = new SpringApplication(Slow.class);
    program.setDefaultProperties(Map.ofEntries(
        Map.entry("server.port", "0"), Map.entry("server.address", "127.0.0.1"), Map.entry("spring.main.banner-mode", "off"),
        Map.entry("logging.level.root", "off"),
        Map.entry("spring.datasource.url", "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1"),
        Map.entry("sentry.dsn", System.getenv("SENTRY_DSN")), Map.entry("sentry.release", "slow-spring@1.0.0"),
        Map.entry("sentry.environment", "test"), Map.entry("sentry.traces-sample-rate", "1.0"), Map.entry("sentry.in-app-includes", "shop"),
        Map.entry("sentry.profile-session-sample-rate", "1.0"), Map.entry("sentry.profile-lifecycle", "TRACE"),
        Map.entry("sentry.profiling-traces-dir-path", Files.createTempDirectory("traces").toString())));
    var context = (ServletWebServerApplicationContext) program.run(arguments);
    System.out.println(context.getWebServer().getPort());
    System.in.readAllBytes();
    Thread.sleep(1_000); // the profiler stops when the last span has ended
    Sentry.flush(20_000);
    Sentry.close();
    System.exit(0);
  }
}
