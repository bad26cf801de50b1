//! What is read, what is written, and where errors point.

use proptest::prelude::*;

use super::strategies::{checked_pools, kind};
use crate::{Pool, PoolKind, Pools};

fn read(text: &str) -> Vec<Pool> {
    text.parse::<Pools>().unwrap().all().to_vec()
}

fn pool(kind: PoolKind, bytes: u32, count: u32, low: u32, credits: u32) -> Pool {
    Pool {
        kind,
        bytes,
        count,
        low,
        credits,
    }
}

#[test]
fn what_is_left_out_follows() {
    assert_eq!(
        read("P,128,256"),
        [pool(PoolKind::PerPeer, 128, 256, 128, 64)]
    );
    assert_eq!(read("s,4k,64"), [pool(PoolKind::Shared, 4096, 64, 32, 8)]);
    assert_eq!(
        read("X,1M,16,12"),
        [pool(PoolKind::Xrc, 1 << 20, 16, 12, 3)]
    );
    assert_eq!(read("P,64,1"), [pool(PoolKind::PerPeer, 64, 1, 0, 1)]);
}

#[test]
fn open_mpis_own_are_read() {
    let connectx =
        "P,128,256,192,128:S,2048,1024,1008,64:S,12288,1024,1008,64:S,65536,1024,1008,64";
    let pools = read(connectx);
    assert_eq!(pools[0], pool(PoolKind::PerPeer, 128, 256, 192, 128));
    assert_eq!(pools[3], pool(PoolKind::Shared, 65_536, 1024, 1008, 64));
    read("X,128,256,192,128:X,2048,256,128,32:X,12288,256,128,32:X,65536,256,128,32");
    read("P,65536,256,192,128");
}

#[test]
fn nothing_is_left_out_of_what_is_written() {
    let written = |text: &str| text.parse::<Pools>().unwrap().to_string();
    assert_eq!(written("P,100,8:S,4096,64"), "P,100,8,4,2:S,4k,64,32,8");
    assert_eq!(written("x,3145728,8"), "X,3M,8,4,1");
}

#[test]
fn errors_point_at_the_character() {
    let cases = [
        ("", 0, "a type is missing"),
        ("X,256,8:", 8, "a type is missing"),
        (":X,256,8", 0, "a type is missing"),
        ("Q,256,8", 0, "no type: `Q`"),
        ("PP,256,8", 1, "a comma is missing"),
        ("X256,8", 1, "a comma is missing"),
        ("X", 1, "the bytes of a buffer: missing"),
        ("X,,8", 2, "the bytes of a buffer: missing"),
        ("X,k,8", 2, "the bytes of a buffer: missing"),
        ("X,2kk,8", 3, "the bytes of a buffer: not a number"),
        ("X,-2,8", 2, "the bytes of a buffer: not a number"),
        ("X,63,8", 2, "the bytes of a buffer: from 64 to 16777216"),
        ("X,17M,8", 2, "the bytes of a buffer: from 64 to 16777216"),
        (
            "X,99999999999999999999999M,8",
            2,
            "the bytes of a buffer: from",
        ),
        ("X,256", 5, "the count of buffers: missing"),
        ("X,256:S,4k,8", 5, "the count of buffers: missing"),
        ("X,256,0", 6, "the count of buffers: from 1 to 32768"),
        ("X,256,8k", 7, "the count of buffers: not a number"),
        ("X,256,8,8", 8, "the low mark: from 0 to 7"),
        ("X,256,8,4,9", 10, "credits: from 1 to 8"),
        ("P,256,8,4,6", 10, "credits: from 1 to 5"),
        ("S,256,8,4,0", 10, "credits: from 1 to 8"),
        ("P,256,8,4,4,2", 12, "a sixth field"),
        ("X,4k,8:X,2k,8", 9, "2048 bytes after 4096: sizes ascend"),
        ("X,2k,8:S,2k,8", 9, "two pools of one size"),
        ("S,2k,8:S,2k,8", 9, "two pools of one size"),
        ("S,2k,8:X,2k,8:X,2k,8", 16, "two pools of one size"),
        ("X,256,8 :X,2k,8", 7, "the count of buffers: not a number"),
        ("X,\u{b2}56,8", 2, "the bytes of a buffer: not a number"),
        ("\u{b5},256,8", 0, "no type: `\u{b5}`"),
    ];
    for (text, at, what) in cases {
        let error = text.parse::<Pools>().unwrap_err();
        assert!(error.what().starts_with(what), "{text:?}: {}", error.what());
        assert_eq!(error.at(), at, "{text:?}: {error}");
    }
}

#[test]
fn sixteen_pools_and_no_more() {
    let text = |pools: u32| -> String {
        let each: Vec<String> = (1..=pools).map(|i| format!("X,{i}k,8")).collect();
        each.join(":")
    };
    assert_eq!(read(&text(16)).len(), 16);
    let error = text(17).parse::<Pools>().unwrap_err();
    assert_eq!(error.what(), "more than 16 pools");
    assert_eq!(error.at(), text(16).len() + 1);
}

#[test]
fn a_caret_stands_below_the_character() {
    let error = "X,\u{b5}:S\n".parse::<Pools>().unwrap_err();
    let expected = "receive pools: the bytes of a buffer: not a number\n  X,\u{b5}:S?\n    ^";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn sensible_pools_are_a_specification() {
    let xrc = "X,256,512,256,64:X,1k,256,128,32:X,4k,128,64,16:X,16512,128,64,16";
    let shared = "S,256,512,256,64:S,2k,256,128,32:S,16512,128,64,16";
    for (has_xrc, text, kib) in [(true, xrc, 2960), (false, shared, 2704)] {
        let pools = Pools::sensible(has_xrc);
        assert_eq!(pools.to_string(), text);
        assert_eq!(text.parse(), Ok(pools.clone()));
        let bytes: u64 = pools.all().iter().map(Pool::buffer_bytes).sum();
        assert_eq!(bytes, kib << 10);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(pools in checked_pools()) {
        let text = pools.to_string();
        prop_assert_eq!(text.parse(), Ok(pools), "{}", text);
    }

    #[test]
    fn what_is_made_of_pools_could_have_been_specified(pools in checked_pools(), kind in kind()) {
        let alike = pools.all_of(kind);
        prop_assert!(alike.all().iter().all(|pool| pool.kind == kind));
        prop_assert_eq!(alike.to_string().parse(), Ok(alike));
        let largest = pools.largest();
        prop_assert_eq!(largest.all(), &pools.all()[pools.all().len() - 1..]);
    }

    #[test]
    fn any_text_has_an_answer(text in "([PSXpsx]?[,:0-9kM \u{e9}\u{1f600}]{0,6}){0,8}") {
        match text.parse::<Pools>() {
            Ok(pools) => prop_assert_eq!(pools.to_string().parse(), Ok(pools)),
            Err(error) => {
                prop_assert!(error.at() <= text.chars().count());
                prop_assert_eq!(error.to_string().lines().count(), 3);
            }
        }
    }

    #[test]
    fn a_broken_specification_is_pointed_at_where_it_was_broken(
        pools in checked_pools(),
        place in any::<prop::sample::Index>(),
    ) {
        let mut text = pools.to_string();
        let at = place.index(text.len());
        text.replace_range(at..=at, "!");
        let error = text.parse::<Pools>().unwrap_err();
        // A separator that is gone spoils the field before it, a type the one that it begins.
        prop_assert!(error.at() <= at, "{}", error);
        let between = &text[error.at()..at];
        prop_assert!(!between.contains([',', ':']), "{}", error);
    }
}
