//! Taking back what a dead process owned in the fabric segment. The caller has the dead one's slot (`processes`), so it is
//! done by one at a time, and the slot is freed only after all of it: cut off anywhere, the next does it again.

use std::sync::atomic::Ordering;

use super::mapping::Mapping;
use super::numbers::{MAX_DEVICES, Owner};
use super::{pages, xrc};

pub(super) fn take_back(fabric: &Mapping, dead: Owner) {
    for device in 0..MAX_DEVICES {
        for page in pages::words(fabric, device) {
            let _ = page.compare_exchange(dead.word(), 0, Ordering::AcqRel, Ordering::Relaxed);
        }
    }
    xrc::take_back(fabric, dead);
}
