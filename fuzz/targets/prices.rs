//! A file of prices, and one that the first process of a job announces: whatever is read is written so that it is read
//! again, and whatever is not is told in one line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use weft_prices::{File, announced, announcement};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let read = text.parse::<File>();
    if let Ok(file) = &read {
        assert_eq!(file.to_string().parse(), Ok(file.clone()));
        let heard = announced(&announcement(Path::new(text), file));
        assert_eq!(heard.map(|(_, file)| file), Ok(file.clone()));
    }
    for why in [read.err(), announced(text).err()].into_iter().flatten() {
        assert!(
            !why.is_empty() && !why.contains(char::is_control),
            "{why:?}"
        );
    }
});
