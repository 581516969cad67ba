// SPDX-License-Identifier: Apache-2.0

//! sentryserde decode FILE TIMES: decodes a chunk this many times. Like Sentry's service, it decodes twice: only the version, then all.
//! sentryserde inflate FILE TIMES: decompresses a gzip file this many times into the same memory.

use libdeflater::Decompressor;
use serde::Deserialize;
use std::collections::HashMap;
use std::{env, fs, hint};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let data = fs::read(&arguments[1]).expect("a file");
    let times = arguments[2].parse::<u32>().expect("how many times");
    match arguments[0].as_str() {
        "decode" => {
            for _ in 0..times {
                hint::black_box(decode(&data));
            }
        }
        "inflate" => {
            let trailer: [u8; 4] = data[data.len() - 4..].try_into().expect("4 bytes");
            let mut out = vec![0; u32::from_le_bytes(trailer) as usize];
            let mut decompressor = Decompressor::new();
            for _ in 0..times {
                let size = decompressor.gzip_decompress(&data, &mut out).expect("gzip");
                hint::black_box(&out[..size]);
            }
        }
        other => panic!("no command {other}"),
    }
}

fn decode(data: &[u8]) -> Chunk {
    let head: Head = serde_json::from_slice(data).expect("a version");
    assert_eq!(head.version, "2");
    serde_json::from_slice(data).expect("a chunk")
}

#[derive(Deserialize)]
struct Head {
    version: String,
}

// The fields of rival.Chunk in Go.
#[allow(dead_code)] // fields are only written
#[derive(Deserialize)]
struct Chunk {
    version: String,
    profiler_id: Option<String>,
    chunk_id: Option<String>,
    platform: Option<String>,
    release: Option<String>,
    environment: Option<String>,
    client_sdk: Option<Sdk>,
    debug_meta: Option<DebugMeta>,
    profile: Profile,
}

#[allow(dead_code)]
#[derive(Deserialize)]
struct Profile {
    samples: Vec<Sample>,
    stacks: Vec<Vec<i32>>,
    frames: Vec<Frame>,
    thread_metadata: Option<HashMap<String, ThreadMetadata>>,
}

#[allow(dead_code)]
#[derive(Deserialize)]
struct Sample {
    timestamp: f64,
    thread_id: String,
    stack_id: i32,
}

#[allow(dead_code)]
#[derive(Deserialize)]
struct Frame {
    function: Option<String>,
    module: Option<String>,
    filename: Option<String>,
    abs_path: Option<String>,
    package: Option<String>,
    platform: Option<String>,
    instruction_addr: Option<String>,
    lineno: Option<u32>,
    colno: Option<u32>,
    in_app: Option<bool>,
}

#[allow(dead_code)]
#[derive(Deserialize)]
struct ThreadMetadata {
    name: Option<String>,
    priority: Option<i64>,
}

#[allow(dead_code)]
#[derive(Deserialize)]
struct DebugMeta {
    images: Option<Vec<Image>>,
}

#[allow(dead_code)]
#[derive(Deserialize)]
struct Image {
    r#type: Option<String>,
    code_file: Option<String>,
    code_id: Option<String>,
    debug_id: Option<String>,
    uuid: Option<String>,
    arch: Option<String>,
    image_addr: Option<String>,
    image_vmaddr: Option<String>,
    image_size: Option<u64>,
}

#[allow(dead_code)]
#[derive(Deserialize)]
struct Sdk {
    name: Option<String>,
    version: Option<String>,
}
