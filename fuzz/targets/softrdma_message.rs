//! What processes tell each other's agents of the RDMA device: words that another process wrote.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_softrdma::path::agent_message::AgentMessage;

fuzz_target!(|data: &[u8]| {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(data.chunks_exact(8)) {
        *word = u64::from_le_bytes(bytes.try_into().unwrap());
    }
    if let Some(message) = AgentMessage::from_words(&words) {
        assert_eq!(AgentMessage::from_words(&message.words()), Some(message));
    }
});
