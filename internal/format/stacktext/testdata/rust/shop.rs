// Prints the traces that Rust writes: of a panic (stderr) and of a captured Backtrace.
use std::backtrace::Backtrace;
use std::collections::HashMap;

struct Cart<T> {
    items: HashMap<String, T>,
}

trait Reserve {
    fn reserve(&self, sku: &str) -> String;
}

impl<T: std::fmt::Debug> Reserve for Cart<T> {
    fn reserve(&self, sku: &str) -> String {
        [sku].iter().map(|sku| format!("{:?}", self.items.get(*sku).unwrap())).collect()
    }
}

fn capture() -> Backtrace {
    (|| Backtrace::force_capture())()
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("captured") => eprintln!("{}", capture()),
        Some("alternate") => eprintln!("{:#?}", capture()),
        _ => {
            let cart: Cart<u32> = Cart { items: HashMap::new() };
            cart.reserve("SKU-1");
        }
    }
}
