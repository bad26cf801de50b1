//! This process's engine.

use std::sync::OnceLock;

use weft_engine::Engine;

use super::network::Network;

static ENGINE: OnceLock<Engine<Network>> = OnceLock::new();

/// The engine of this process, which is initialised.
#[inline]
pub fn engine() -> &'static Engine<Network> {
    ENGINE
        .get()
        .expect("the shims let no call in before MPI_Init")
}

/// The engine, if there is one; for calls that may come before `MPI_Init`.
#[inline]
pub fn started() -> Option<&'static Engine<Network>> {
    ENGINE.get()
}

/// The engine of this process from here on.
pub fn begin(engine: Engine<Network>) {
    let set = ENGINE.set(engine).is_ok();
    assert!(set, "a process starts once");
}
