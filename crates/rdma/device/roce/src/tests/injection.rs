//! The injector does what it is told, and the same each time.

use std::net::Ipv4Addr;

use crate::{Batch, Injection, Injector};

const THERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// The numbers of the packets that come out, those kept back behind the others.
fn survivors(injection: Injection, packets: u32) -> Vec<u32> {
    let mut injector = Injector::new(injection);
    let mut out = Batch::new();
    let mut batch = Batch::new();
    for number in 0..packets {
        batch.push_raw(THERE, &number.to_ne_bytes());
    }
    injector.pass(0, &mut batch, &mut out);
    assert!(batch.is_empty());
    injector.release(u64::MAX, &mut out);
    assert_eq!(injector.deadline(), None);
    out.iter()
        .map(|(_, bytes)| u32::from_ne_bytes(bytes.try_into().unwrap()))
        .collect()
}

#[test]
fn nothing_is_the_default() {
    assert!(Injector::new(Injection::default()).is_idle());
    let same: Vec<u32> = (0..500).collect();
    assert_eq!(survivors(Injection::default(), 500), same);
}

#[test]
fn loss_and_duplication_are_as_likely_as_told() {
    let loss = Injection {
        loss: 0.05,
        seed: 3,
        ..Injection::default()
    };
    let left = survivors(loss, 20_000).len();
    assert!((18_800..19_200).contains(&left), "{left} of 20000");
    let duplicate = Injection {
        duplicate: 0.1,
        seed: 3,
        ..Injection::default()
    };
    let left = survivors(duplicate, 20_000).len();
    assert!((21_700..22_300).contains(&left), "{left} of 20000");
}

#[test]
fn the_seed_decides() {
    let with = |seed| {
        let injection = Injection {
            loss: 0.3,
            duplicate: 0.1,
            reorder: 0.2,
            seed,
            ..Injection::default()
        };
        survivors(injection, 300)
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2));
}

#[test]
fn delay_keeps_the_order_and_reorder_does_not() {
    let mut injector = Injector::new(Injection {
        delay_us: 50,
        ..Injection::default()
    });
    let mut batch = Batch::new();
    batch.push_raw(THERE, &[1]);
    batch.push_raw(THERE, &[2]);
    let mut out = Batch::new();
    injector.pass(1000, &mut batch, &mut out);
    assert!(out.is_empty());
    assert_eq!(injector.deadline(), Some(51_000));
    injector.release(50_999, &mut out);
    assert!(out.is_empty());
    injector.release(51_000, &mut out);
    let order: Vec<&[u8]> = out.iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(order, [[1], [2]]);
    let reorder = Injection {
        reorder: 0.3,
        seed: 4,
        ..Injection::default()
    };
    let mut numbers = survivors(reorder, 100);
    assert!(!numbers.is_sorted());
    numbers.sort_unstable();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
}

#[test]
fn a_cut_link_passes_nothing() {
    let cut = Injection {
        link_down: true,
        ..Injection::default()
    };
    assert!(!Injector::new(cut).is_idle());
    assert!(survivors(cut, 100).is_empty());
}
