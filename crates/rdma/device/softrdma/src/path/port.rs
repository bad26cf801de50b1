//! This process's port to other hosts.

use std::io;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use weft_kernel::above_standard;
use weft_roce::{Injection, Port, PortConfig};

use super::clock;
use crate::config::Config;

/// The process's port, opened by the first who needs it.
#[derive(Default)]
pub struct SharedPort(OnceLock<Option<Port>>);

impl SharedPort {
    /// None if it could not be opened, which is told once: peers on other hosts are out of reach then.
    pub fn open(&self, config: &Config, slot: u8) -> Option<&Port> {
        let port = self.0.get_or_init(|| {
            let faults = &config.faults;
            let config = PortConfig {
                address: config.ip,
                slot,
                port: config.udp_port,
                injection: Injection {
                    loss: faults.loss,
                    duplicate: faults.duplicate,
                    reorder: faults.reorder,
                    delay_us: faults.delay_us,
                    seed: faults.seed,
                    link_down: faults.link_down,
                },
            };
            let told = |error: &io::Error| {
                let (address, port) = (config.address, config.port);
                let advice = match error.kind() {
                    io::ErrorKind::AddrInUse => {
                        "; another user or fabric has it: set SOFTRDMA_UDP_PORT to one that is free, the same on all hosts"
                    }
                    _ => "",
                };
                eprintln!("softrdma: UDP port {port} of {address}: {error}{advice}");
            };
            patiently(|| above_standard(|| Port::open(&config))).inspect_err(told).ok()
        });
        port.as_ref()
    }

    pub fn opened(&self) -> Option<&Port> {
        self.0.get()?.as_ref()
    }
}

/// Opens what may be in use for a moment more: a process that ends leaves its slot before the kernel closes its sockets, the next one in that slot needs
/// the same name, and on a busy machine the first may not have run since.
fn patiently<T>(open: impl Fn() -> io::Result<T>) -> io::Result<T> {
    const LONGEST: Duration = Duration::from_millis(500);
    let begin = Instant::now();
    loop {
        match open() {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && begin.elapsed() < LONGEST => {
                std::thread::sleep(Duration::from_millis(1));
            }
            outcome => return outcome,
        }
    }
}

/// The process may be about to end, and with it its agent: waits until packets that were kept back have left.
pub fn wait_for_delayed(port: &Port) {
    /// Nobody is kept longer by a wire that is slow on request.
    const LONGEST: Duration = Duration::from_millis(100);
    let begin = clock::monotonic_ns();
    let last = port.last_deadline();
    while let Some(last) = last
        && clock::monotonic_ns() <= last
        && clock::monotonic_ns() - begin < LONGEST.as_nanos() as u64
    {
        std::thread::sleep(Duration::from_micros(50));
    }
    if last.is_some() || port.wants_writable() {
        port.flush(clock::monotonic_ns());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn what_is_in_use_for_a_moment_is_waited_for() {
        let left = Cell::new(5);
        let opened = patiently(|| match left.replace(left.get() - 1) {
            0 => Ok("open"),
            _ => Err(io::ErrorKind::AddrInUse.into()),
        });
        assert_eq!(opened.unwrap(), "open");
        let refused: io::Result<()> = patiently(|| Err(io::ErrorKind::AddrInUse.into()));
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::AddrInUse);
        let tries = Cell::new(0);
        let other: io::Result<()> = patiently(|| {
            tries.set(tries.get() + 1);
            Err(io::ErrorKind::PermissionDenied.into())
        });
        assert!(other.is_err() && tries.get() == 1);
    }
}
