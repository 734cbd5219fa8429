//! A dot product a hundred times over from Rust, with the vectors kept on an OpenCL device, beside
//! Rust's own loop.
//!
//!     dot_rust [N]
//!
//! kiln.rs beside it wraps Kiln's C interface, opencl.rs what is needed of OpenCL; no crate is
//! needed. Ends with 77 where there is no OpenCL device.
// SPDX-License-Identifier: Apache-2.0

mod kiln;
mod opencl;

use std::process::exit;
use std::ptr::read_volatile;
use std::time::Instant;

use kiln::{Arguments, Launcher, Result};
use opencl::OpenCl;

const TIMES: u32 = 100;
const SKIPPED: i32 = 77;

fn dot_in_rust(x: &[f32], y: &[f32]) -> f32 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

fn run(device: &OpenCl, n: usize) -> Result<()> {
    let x: Vec<f32> = (0..n).map(|i| (i % 3) as f32 - 1.0).collect();
    let y: Vec<f32> = (0..n).map(|i| (i % 5) as f32 - 2.0).collect();
    let mut result = [0f32];
    let (device_x, device_y, device_result) = (
        device.upload(&x)?,
        device.upload(&y)?,
        device.upload(&result)?,
    );

    let launcher = Launcher::open("opencl", device.queue)?;
    let problem = format!("op=dot n={n}");
    let (config, reason) = launcher.choose("reduce", &problem)?;
    println!("reduce: {config}\n  {reason}");
    let dot = launcher.prepare("reduce", &problem)?;
    let arguments = Arguments::default()
        .memory("in", device_x, 4 * n, "f32")?
        .memory("other", device_y, 4 * n, "f32")?
        .memory("out", device_result, 4, "f32")?;
    // The first launch may still compile.
    dot.launch(device.queue, &arguments)?;
    device.download(device_result, &mut result)?;

    let started = Instant::now();
    for _ in 0..TIMES {
        dot.launch(device.queue, &arguments)?;
    }
    device.download(device_result, &mut result)?;
    let on_device = started.elapsed() / TIMES;

    let mut expected = 0.0;
    let started = Instant::now();
    for _ in 0..TIMES {
        // Read anew each time, else the optimiser would compute it once.
        let (x, y) = unsafe { (read_volatile(&x.as_slice()), read_volatile(&y.as_slice())) };
        expected = dot_in_rust(x, y);
    }
    let in_rust = started.elapsed() / TIMES;
    println!(
        "dot product, {TIMES} times: {} (expected {expected})",
        result[0]
    );
    println!("{on_device:?} each with Kiln, {in_rust:?} each in Rust");
    if result[0] != expected {
        return Err("the results differ".to_string());
    }

    let wrong = Arguments::default().memory("in", device_result, 4, "")?;
    match dot.launch(device.queue, &wrong) {
        Ok(()) => Err("a launch without arguments was accepted".to_string()),
        Err(error) => {
            println!("a launch without arguments: {error}");
            Ok(())
        }
    }
}

fn main() {
    let n = match std::env::args().nth(1).map(|word| word.parse::<usize>()) {
        None => 100_000,
        Some(Ok(n)) if n > 0 => n,
        Some(_) => {
            eprintln!("usage: dot_rust [N]");
            exit(2);
        }
    };
    let device = match OpenCl::open() {
        Ok(device) => device,
        Err(reason) => {
            println!("skipped: {reason}");
            exit(SKIPPED);
        }
    };
    if let Err(error) = run(&device, n) {
        eprintln!("{error}");
        exit(1);
    }
}
