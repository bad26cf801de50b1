//! What processes tell each other in calls of MPI, as words: whatever they say is an error, or a graph between ranks,
//! groups of different processes, a window that fits the address space, an access that stays in its windows.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&which, rest)) = data.split_first() else {
        return;
    };
    let words = rest.as_chunks().0.iter().copied();
    let words: Vec<i64> = words.map(i64::from_le_bytes).collect();
    match which % 8 {
        0 => weft_communicators::dist_graph::fuzz(&words),
        1 => weft_communicators::intercomm::fuzz(&words),
        2 => weft_window::fuzz(&words),
        3 => weft_messages::fuzz(&words),
        4 => weft_objects::comm::numbers::agreement::fuzz(&words),
        5 => weft_file_calls::fuzz_views(&words),
        6 => weft_file_calls::fuzz_settings(&words),
        _ => weft_file_calls::fuzz_access(&words),
    }
});
