//! Copies between this process's memory and parts of a window that loads and stores do not reach.

use weft_shm::Stretch;
use weft_sync::{Answer, Ask};

use crate::control::MESSAGE_BYTES;
use crate::link::{Link, Path};
use crate::target::Fault;
use crate::window::Window;

/// A stretch in parts that active messages move, address and bytes of each.
fn parts(stretch: &Stretch) -> impl Iterator<Item = (u64, usize)> + use<> {
    let (address, bytes) = (stretch.address(), stretch.bytes());
    (0..bytes).step_by(MESSAGE_BYTES).map(move |at| {
        (
            address.wrapping_add(at as u64),
            (bytes - at).min(MESSAGE_BYTES),
        )
    })
}

impl Window {
    /// Copies stretches of a target's part that were checked and are not reached directly, one after the other to `into`.
    ///
    /// # Safety
    /// `into` is valid for writes of as many bytes.
    pub(crate) unsafe fn fetch(
        &self,
        (rank, link): (u32, &Link),
        stretches: &[Stretch],
        into: *mut u8,
    ) -> Result<(), Fault> {
        match &link.path {
            Path::Kernel => {
                // SAFETY: by this function's contract.
                let copied = unsafe { link.process.gather(stretches, into) };
                copied.map_err(|error| link.failed(&error))
            }
            // SAFETY: the parts lie in the stretches, and each message's bytes in the control area.
            _ => self.copy_by_messages((rank, link), stretches, false, |theirs, at, part| unsafe {
                weft_memory::copy(theirs, into.wrapping_add(at), part);
            }),
        }
    }

    /// As [`fetch`](Self::fetch), the other way.
    ///
    /// # Safety
    /// `from` is valid for reads of as many bytes.
    pub(crate) unsafe fn store(
        &self,
        (rank, link): (u32, &Link),
        stretches: &[Stretch],
        from: *const u8,
    ) -> Result<(), Fault> {
        match &link.path {
            Path::Kernel => {
                // SAFETY: by this function's contract.
                let copied = unsafe { link.process.scatter(stretches, from) };
                copied.map_err(|error| link.failed(&error))
            }
            // SAFETY: as in `fetch`.
            _ => self.copy_by_messages((rank, link), stretches, true, |theirs, at, part| unsafe {
                weft_memory::copy(from.wrapping_add(at), theirs, part);
            }),
        }
    }

    /// Has the target copy between its memory and the message's bytes, part by part; `copy` moves each between there and
    /// this process's, where the stretches are one after the other.
    fn copy_by_messages(
        &self,
        (rank, link): (u32, &Link),
        stretches: &[Stretch],
        writes: bool,
        mut copy: impl FnMut(*mut u8, usize, usize),
    ) -> Result<(), Fault> {
        let message = &link.control.header().message.0;
        let theirs = link.control.message_bytes();
        let mut lives = self.watch(rank);
        if self.take_patiently(link, &message.lock)? {
            self.wait_in_line(link, &mut || message.clear() || !lives());
        }
        let mut outcome = Ok(());
        let mut at = 0;
        for (address, part) in stretches.iter().flat_map(parts) {
            if writes {
                copy(theirs, at, part);
            }
            message.ask(Ask {
                writes,
                address,
                bytes: part as u64,
            });
            link.process.call();
            self.wait_in_line(link, &mut || {
                message.answer() != Answer::Pending || !lives()
            });
            let answer = message.answer();
            message.clear();
            outcome = match answer {
                Answer::Done => Ok(()),
                Answer::Refused => Err(Fault::Range),
                Answer::Pending => Err(self.gone(rank)),
            };
            if outcome.is_err() {
                break;
            }
            if !writes {
                copy(theirs, at, part);
            }
            at += part;
        }
        self.let_go(link, &message.lock);
        outcome
    }
}
