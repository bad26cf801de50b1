//! A specification of receive pools: whatever is read is written so that it is read again, and whatever is not is pointed at.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_pools::{Pools, Reach};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match text.parse::<Pools>() {
        Ok(pools) => {
            assert_eq!(pools.to_string().parse(), Ok(pools.clone()));
            for reach in [Reach::Xrc, Reach::Connected] {
                let selection = pools.toward(reach);
                let sizes = selection.pools().windows(2);
                assert!(sizes.into_iter().all(|two| two[0].bytes < two[1].bytes));
                let longest = selection.longest() as usize;
                assert!(selection.smallest(longest).is_some());
            }
        }
        Err(error) => {
            assert!(error.at() <= text.chars().count());
            assert_eq!(error.to_string().lines().count(), 3);
        }
    }
});
