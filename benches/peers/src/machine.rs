//! What figures were measured on: without it, they say little.

use std::fs::read_to_string;
use std::thread::available_parallelism;

/// The processor, its cores, the compiler, and what was compiled otherwise than by default.
pub fn description() -> String {
    let cores = available_parallelism().map_or(1, usize::from);
    let simd = if cfg!(feature = "simd") { ", posetree with `simd`" } else { "" };
    let serial = if cfg!(feature = "bevy_parallel") { "" } else { ", Bevy without `multi_threaded`" };
    format!("{}, {cores} cores, {}{simd}{serial}.", processor(), env!("PEERS_RUSTC"))
}

fn processor() -> String {
    // Other systems do not tell without being linked to.
    let model = read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let (_, model) = text.lines().find(|line| line.starts_with("model name"))?.split_once(':')?;
        Some(model.trim().to_owned())
    });
    model.unwrap_or_else(|| format!("unknown processor ({})", std::env::consts::ARCH))
}
