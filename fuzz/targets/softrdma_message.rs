//! What processes tell each other's agents of the RDMA device: words that another process wrote.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_softrdma::path::letter::Letter;

fuzz_target!(|data: &[u8]| {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(data.chunks_exact(8)) {
        *word = u64::from_le_bytes(bytes.try_into().unwrap());
    }
    if let Some(letter) = Letter::from_words(&words) {
        assert_eq!(Letter::from_words(&letter.words()), Some(letter));
        if let Letter::Failed { trouble, .. } = letter {
            trouble.event();
        }
    }
});
