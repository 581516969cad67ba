//! What a small shop does, with Sentry's Rust SDK, which has no profiles. SENTRY_DSN says where to. With the argument "answers", it sends
//! three errors, one after the other: what a response does to an SDK shows in the next errors.
//!
//! Prints as JSON what the SDK handed to its transport. It does not tell what it has dropped.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use sentry::protocol::{Context, EnvelopeItem, ItemContainer};
use sentry::transports::DefaultTransportFactory;
use sentry::{ClientOptions, Envelope, Transport, TransportFactory, TransportOptions};

const ROUNDS: usize = 4;

#[derive(Default)]
struct Sent {
    spans: Vec<String>,
    errors: Vec<String>,
    logs: Vec<String>,
}

impl Sent {
    fn note(&mut self, item: &EnvelopeItem) {
        match item {
            EnvelopeItem::Transaction(transaction) => {
                if let Some(Context::Trace(root)) = transaction.contexts.get("trace") {
                    self.spans.push(format!("{}/{}", root.trace_id, root.span_id));
                }
                for span in &transaction.spans {
                    self.spans.push(format!("{}/{}", span.trace_id, span.span_id));
                }
            }
            EnvelopeItem::Event(event) => self.errors.push(event.event_id.simple().to_string()),
            EnvelopeItem::ItemContainer(ItemContainer::Logs(logs)) => {
                self.logs.extend(logs.iter().map(|log| log.body.clone()));
            }
            _ => {}
        }
    }
}

/// The SDK's own transport; writes down what it is given.
struct Reporting {
    inner: Arc<dyn Transport>,
    sent: Arc<Mutex<Sent>>,
}

impl Transport for Reporting {
    fn send_envelope(&self, envelope: Envelope) {
        for item in envelope.items() {
            self.sent.lock().unwrap().note(item);
        }
        self.inner.send_envelope(envelope);
    }

    fn flush(&self, timeout: Duration) -> bool {
        self.inner.flush(timeout)
    }

    fn shutdown(&self, timeout: Duration) -> bool {
        self.inner.shutdown(timeout)
    }
}

struct Factory(Arc<Mutex<Sent>>);

impl TransportFactory for Factory {
    fn create_transport_with_options(&self, options: TransportOptions) -> Arc<dyn Transport> {
        let inner = DefaultTransportFactory.create_transport_with_options(options);
        Arc::new(Reporting { inner, sent: self.0.clone() })
    }
}

fn spin(milliseconds: u64) {
    let end = Instant::now() + Duration::from_millis(milliseconds);
    let mut x = 1.0_f64;
    while Instant::now() < end {
        x = std::hint::black_box((x + 1.7).sqrt());
    }
}

fn run(parent: &sentry::Span, name: &str, milliseconds: u64) {
    let span = parent.start_child("task", name);
    spin(milliseconds);
    span.finish();
}

fn transaction(name: &str, round: fn(&sentry::Span)) {
    let root = sentry::start_transaction(sentry::TransactionContext::new(name, "task"));
    for _ in 0..ROUNDS {
        let order = root.start_child("task", "order");
        round(&order);
        order.finish();
    }
    root.finish();
}

fn checkout(order: &sentry::Span) {
    run(order, "price", 70);
    run(order, "stock", 30);
}

fn report(order: &sentry::Span) {
    run(order, "render", 60);
    run(order, "compress", 40);
}

fn workload() {
    let reports = thread::spawn(|| transaction("report", report));
    transaction("checkout", checkout);
    reports.join().unwrap();
    sentry::capture_error(&"coupon".parse::<u32>().unwrap_err());
    sentry::logger_warn!("stock low");
}

fn answers() {
    for number in 0..3 {
        sentry::capture_message(&format!("message {number}"), sentry::Level::Error);
        let client = sentry::Hub::current().client().expect("client");
        client.flush(Some(Duration::from_secs(10)));
    }
}

fn main() {
    let sent = Arc::new(Mutex::new(Sent::default()));
    let guard = sentry::init(
        ClientOptions::new()
            .dsn(&std::env::var("SENTRY_DSN").expect("SENTRY_DSN"))
            .release("shop@1.0.0")
            .traces_sample_rate(1.0)
            .transport(Factory(sent.clone())),
    );
    if std::env::args().nth(1).as_deref() == Some("answers") {
        answers();
    } else {
        workload();
    }
    drop(guard); // flushes

    let sent = sent.lock().unwrap();
    let version = sentry::ClientOptions::new().user_agent.rsplit('/').next().map(str::to_owned);
    println!(
        "{}",
        serde_json::json!({"version": version, "spans": sent.spans, "errors": sent.errors, "logs": sent.logs, "busy": []})
    );
}
