//! RoCEv2 packets: headers and payload of what is accepted lie inside it, in its order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_roce::packet::{BTH_BYTES, ICRC_BYTES, View};

fuzz_target!(|data: &[u8]| {
    if let Ok(view) = View::parse(data) {
        assert!(BTH_BYTES + view.payload().len() + ICRC_BYTES <= data.len());
        assert_eq!(view.covered().len() + ICRC_BYTES, data.len());
        assert!(view.header().destination_qpn < 1 << 24);
        view.icrc();
    }
});
