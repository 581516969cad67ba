//! What a small shop does, with Sentry's native SDK of 2021, which has neither spans nor logs nor profiles. SENTRY_DSN says where to.
//!
//! `workload crash DATABASE` crashes in a session and leaves the crash in the database. `workload send DATABASE`, the next start of
//! the program, sends it and an error of its own, and prints as JSON what the SDK had to send. It does not tell what it has dropped.

use std::collections::BTreeMap;
use std::path::Path;

use sentry_contrib_native as sentry;
use sentry::{Breadcrumb, Event, Options, Shutdown};

fn start(database: &str) -> Shutdown {
    let mut options = Options::new();
    options.set_dsn(std::env::var("SENTRY_DSN").expect("SENTRY_DSN"));
    options.set_release("shop@1.0.0");
    options.set_database_path(database);
    options.init().expect("init")
}

/// What lies in the database is the crash of the run before. Its file has the name of the event.
fn crashes(database: &str) -> Vec<String> {
    let list = |folder: &Path| std::fs::read_dir(folder).expect("database").map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let mut ids = Vec::new();
    for run in list(Path::new(database)).iter().filter(|path| path.is_dir()) {
        for file in list(run).iter().filter(|path| path.extension().is_some_and(|extension| extension == "envelope")) {
            ids.push(file.file_stem().unwrap().to_string_lossy().into_owned());
        }
    }
    ids
}

fn checkout() -> String {
    sentry::set_tag("tier", "web");
    let mut breadcrumb = Breadcrumb::new(None, Some("stock low".into()));
    breadcrumb.insert("category", "shop");
    breadcrumb.add();
    let error = "coupon".parse::<u32>().unwrap_err();
    let mut event = Event::new();
    event.add_exception(BTreeMap::from([("type", "ParseIntError".to_owned()), ("value", error.to_string())]), 0);
    event.capture().to_plain()
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (step, database) = (arguments.next().expect("crash or send"), arguments.next().expect("database"));
    if step == "crash" {
        let _guard = start(&database);
        unsafe { std::ptr::null_mut::<u32>().write_volatile(1) };
    }
    let mut errors = crashes(&database);
    let guard = start(&database);
    errors.push(checkout());
    guard.shutdown(); // flushes

    let version = sentry::SDK_USER_AGENT.rsplit('/').next();
    println!("{}", serde_json::json!({"version": version, "errors": errors, "logs": [], "busy": []}));
}
