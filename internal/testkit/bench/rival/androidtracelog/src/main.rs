// SPDX-License-Identifier: Apache-2.0

//! androidtracelog dump FILE…: prints threads, methods and events of method traces.
//! androidtracelog parse FILE TIMES: parses a trace this many times.

use android_trace_log::{Action, AndroidTraceLog, Time};
use std::io::{self, BufWriter, Write};
use std::time::Duration;
use std::{env, fs, hint};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments[0].as_str() {
        "dump" => {
            let mut out = BufWriter::new(io::stdout().lock());
            for name in &arguments[1..] {
                dump(&mut out, &fs::read(name)?)?;
            }
            out.flush()
        }
        "parse" => {
            let data = fs::read(&arguments[1])?;
            for _ in 0..arguments[2].parse::<u32>().expect("how many times") {
                hint::black_box(parse(&data));
            }
            Ok(())
        }
        other => panic!("no command {other}"),
    }
}

fn parse(data: &[u8]) -> AndroidTraceLog {
    android_trace_log::parse(data).expect("a method trace")
}

fn dump(out: &mut impl Write, data: &[u8]) -> io::Result<()> {
    let trace = parse(data);
    for t in &trace.threads {
        writeln!(out, "T\t{}\t{}", t.id, t.name)?;
    }
    for m in &trace.methods {
        let line = m.source_line.unwrap_or(0);
        writeln!(out, "M\t{:x}\t{}\t{}\t{}\t{}\t{}", m.id, m.class_name, m.name, m.signature, m.source_file, line)?;
    }
    for e in &trace.events {
        let action = match e.action {
            Action::Enter => 0,
            Action::Exit => 1,
            Action::Unwind => 2,
        };
        let (wall, cpu) = match e.time {
            Time::Global(time) => (micros(Some(time)), 0),
            Time::Monotonic { cpu, wall } => (micros(wall), micros(cpu)),
        };
        writeln!(out, "E\t{action}\t{}\t{:x}\t{wall}\t{cpu}", e.thread_id, e.method_id)?;
    }
    Ok(())
}

fn micros(time: Option<Duration>) -> u128 {
    time.map_or(0, |t| t.as_micros())
}
