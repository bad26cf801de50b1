//! All that reads what other processes tell in calls, without a message: for fuzzing.

use crate::{creation, file, messages, objects, window};

/// Reads words, as what `which` of them says.
pub fn read(which: u8, words: &[i64]) {
    match which % 8 {
        0 => creation::dist_graph::fuzz(words),
        1 => creation::intercomm::fuzz(words),
        2 => window::fuzz(words),
        3 => messages::fuzz(words),
        4 => objects::comm::numbers::agreement::fuzz(words),
        5 => file::fuzz_views(words),
        6 => file::fuzz_settings(words),
        _ => file::fuzz_access(words),
    }
}
