use super::*;

/// The ties of a made-up crate's circles, as `from -> to: names`.
fn ties(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let source: &Source = &|path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned())
    };
    let circles = circles_of(Path::new("lib.rs"), source).unwrap();
    let lines = |circle: &Circle| {
        let ties = circle.ties.iter().map(|tie| {
            let names: Vec<&str> = tie.names.iter().map(String::as_str).collect();
            let (from, to) = (tie.from.display(), tie.to.display());
            format!("{from} -> {to}: {}", names.join(" "))
        });
        ties.collect()
    };
    circles.iter().map(lines).collect()
}

/// The same for crates with at most one circle.
fn circle(files: &[(&str, &str)]) -> Vec<String> {
    let mut circles = ties(files);
    assert!(circles.len() <= 1, "{circles:?}");
    circles.pop().unwrap_or_default()
}

/// The ties between `a.rs` and `b.rs`, which defines `Thing` and uses `Own` of `a.rs`, when `a.rs` holds `text` too.
fn used_by(text: &str) -> bool {
    let a = format!("pub struct Own;\n{text}");
    !circle(&[
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", &a),
        (
            "b.rs",
            "use crate::a::Own;
             pub struct Thing(Own);
             pub enum Kind { One, Two }
             pub fn thing() {}
             pub const THING: u8 = 0;
             pub mod deep { pub struct Inner; }",
        ),
        (
            "c.rs",
            "pub use crate::b::Thing as Renamed; pub use std::sync::Mutex;",
        ),
    ])
    .is_empty()
}

#[test]
fn two_files_that_use_each_other_are_a_circle() {
    let found = circle(&[
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "use crate::b::{B, more}; pub struct A(B); fn f() { more() }",
        ),
        (
            "b.rs",
            "use super::a::A; pub struct B; pub fn more() -> A { todo!() }",
        ),
    ]);
    assert_eq!(found, ["b.rs -> a.rs: A", "a.rs -> b.rs: B more"]);
}

#[test]
fn one_way_is_no_circle() {
    let files = [
        ("lib.rs", "mod a; mod b; pub use a::A;"),
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "pub struct B;"),
    ];
    assert!(circle(&files).is_empty());
}

#[test]
fn a_circle_may_go_through_several_files() {
    let found = circle(&[
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "pub struct A(crate::b::B);"),
        ("b.rs", "pub struct B(crate::c::C);"),
        ("c.rs", "pub struct C(crate::a::A, crate::d::D);"),
        ("d.rs", "pub struct D;"),
    ]);
    assert_eq!(
        found,
        ["a.rs -> b.rs: B", "b.rs -> c.rs: C", "c.rs -> a.rs: A"]
    );
}

#[test]
fn circles_apart_are_told_apart_the_shortest_first() {
    let found = ties(&[
        ("lib.rs", "mod a; mod b; mod c; mod d; mod e;"),
        ("a.rs", "pub struct A(crate::b::B);"),
        ("b.rs", "pub struct B(crate::c::C);"),
        ("c.rs", "pub struct C(crate::a::A);"),
        ("d.rs", "pub struct D(crate::e::E);"),
        ("e.rs", "pub struct E(crate::d::D);"),
    ]);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0], ["d.rs -> e.rs: E", "e.rs -> d.rs: D"]);
}

#[test]
fn a_parent_that_only_declares_and_re_exports_its_children_is_in_no_circle() {
    let files = [
        ("lib.rs", "pub mod p;"),
        ("p/mod.rs", "mod a; mod b; pub use a::A; pub use b::*;"),
        ("p/a.rs", "use super::B; pub struct A(B);"),
        ("p/b.rs", "pub struct B;"),
    ];
    assert!(circle(&files).is_empty());
    let mut both = files;
    both[3].1 = "use super::A; pub struct B(A);";
    assert_eq!(
        circle(&both),
        ["p/a.rs -> p/b.rs: B", "p/b.rs -> p/a.rs: A"]
    );
}

#[test]
fn a_parent_that_takes_from_a_child_what_takes_from_it_is_a_circle() {
    let files = [
        ("lib.rs", "mod p;"),
        ("p.rs", "mod a; pub struct P; pub fn f() { a::run() }"),
        ("p/a.rs", "use super::P; pub fn run(_: P) {}"),
    ];
    assert_eq!(circle(&files), ["p.rs -> p/a.rs: run", "p/a.rs -> p.rs: P"]);
}

#[test]
fn a_re_export_is_a_use_once_its_file_uses_the_name() {
    let mut files = [
        ("lib.rs", "mod p;"),
        ("p.rs", "mod a; pub use a::A; pub struct P;"),
        ("p/a.rs", "use super::P; pub struct A(P);"),
    ];
    assert!(circle(&files).is_empty());
    files[1].1 = "mod a; pub use a::A; pub struct P; fn f(_: A) {}";
    assert!(!circle(&files).is_empty());
}

#[test]
fn names_are_found_wherever_paths_stand() {
    for text in [
        "fn f(_: crate::b::Thing) {}",
        "fn f() { super::b::thing() }",
        "fn f() -> Vec<crate::b::Thing> { Vec::new() }",
        "fn f() { let _: Option<&[crate::b::Thing; 2]> = None; }",
        "impl Clone for crate::b::Thing { fn clone(&self) -> Self { todo!() } }",
        "impl From<crate::b::Thing> for Own { fn from(_: u8) -> Self { Own } }",
        "const N: [u8; 1] = [crate::b::THING];",
        "fn f(x: u8) { match x { crate::b::THING => {} _ => {} } }",
        "use crate::b::THING; fn f(x: u8) { match x { THING => {} _ => {} } }",
        "fn f<T: Into<crate::b::Thing>>() {}",
        "fn f() where u8: Into<crate::b::Thing> {}",
        "type Alias = crate::b::Thing;",
        "static S: fn() = crate::b::thing;",
        "trait T { fn f() { crate::b::thing() } }",
        "fn f() { <crate::b::Thing as Default>::default(); }",
    ] {
        assert!(used_by(text), "{text}");
    }
}

#[test]
fn imports_are_followed() {
    for text in [
        "use crate::b::*; fn f(_: Thing) {}",
        "use crate::b; fn f(_: b::Thing) {}",
        "use crate::b::{self as other}; fn f() { other::thing() }",
        "use crate::{b::{self}}; fn f() { b::thing() }",
        "use crate::b::Thing as Else; fn f(_: Else) {}",
        "use crate::b::Kind::{One, Two}; fn f() { One; }",
        "use crate::b::Kind::*; fn f() { One; }",
        "use crate::b::deep; fn f(_: deep::Inner) {}",
        "use crate::c::Renamed;",
        "fn f(_: crate::c::Renamed) {}",
        "fn f() { use crate::b; b::thing() }",
        "fn f() { use crate::b::thing; thing() }",
        "mod inner { use super::super::b::thing; fn f() { thing() } }",
        "mod inner { fn f(_: crate::b::Thing) {} }",
    ] {
        assert!(used_by(text), "{text}");
    }
}

#[test]
fn arguments_of_macros_are_read() {
    for text in [
        "fn f() { assert_eq!(1, crate::b::THING) }",
        "fn f() { vec![crate::b::thing(); 2]; }",
        "fn f(x: u8) { matches!(x, crate::b::THING | 3 if true); }",
        "made! { when crate::b::Thing => go }",
        "thread_local! { static X: crate::b::Thing = const { 0 }; }",
        "macro_rules! m { ($x:ident) => { $crate::b::thing($x) } }",
    ] {
        assert!(used_by(text), "{text}");
    }
}

#[test]
fn what_uses_nothing_of_the_other_file_is_no_tie() {
    for text in [
        "",
        "use crate::b;",
        "pub use crate::b::Thing;",
        "pub(crate) use crate::b::{Thing, thing};",
        "use crate::c::Mutex; fn f(_: Mutex<u8>) {}",
        "#[cfg(test)] use crate::b::Thing;",
        "#[cfg(test)] mod tests { use crate::b::Thing; }",
        "#[cfg(all(test, not(loom)))] fn f(_: crate::b::Thing) {}",
        "#[test] fn f() { crate::b::thing() }",
        "fn f() { #[cfg(test)] let _ = crate::b::thing(); }",
        "impl Own { #[cfg(test)] fn f(_: crate::b::Thing) {} }",
        "use crate::b::*; fn f(thing: u8) -> u8 { thing }",
        "use crate::b::*; fn f(x: &[u8]) { x.iter().map(|thing| thing + 1); }",
        "fn f(x: Other) { x.thing(); x.b.thing; }",
        "/// [`crate::b::Thing`]\nfn f() {}",
        "pub(in crate::b) struct Hidden;",
        "fn f(_: ::b::Thing) {}",
        "fn f(_: std::b::Thing) {}",
    ] {
        assert!(!used_by(text), "{text}");
    }
}

#[test]
fn a_condition_that_may_hold_outside_tests_is_read() {
    for text in [
        "#[cfg(not(test))] use crate::b::Thing;",
        "#[cfg(any(test, unix))] use crate::b::Thing;",
        "#[cfg(loom)] use crate::b::Thing;",
    ] {
        assert!(used_by(text), "{text}");
    }
}

#[test]
fn private_names_are_seen_inside_alone() {
    let mut files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::*; pub struct A; fn f(_: Box<A>) {}"),
        ("b.rs", "use crate::a::A; struct Box(A);"),
    ];
    assert!(circle(&files).is_empty());
    files[2].1 = "use crate::a::A; pub struct Box(A);";
    assert!(!circle(&files).is_empty());
    let child = [
        ("lib.rs", "mod p;"),
        ("p.rs", "mod a; struct P; fn f() { a::run() }"),
        ("p/a.rs", "use super::*; pub fn run(_: P) {}"),
    ];
    assert!(!circle(&child).is_empty());
}

#[test]
fn modules_lie_where_the_language_says() {
    let found = circle(&[
        (
            "lib.rs",
            "#[path = \"else/where.rs\"] mod a; mod outer { pub mod b; }",
        ),
        ("else/where.rs", "use crate::outer::b::B; pub struct A(B);"),
        ("outer/b.rs", "use crate::a::A; pub struct B(A);"),
    ]);
    assert_eq!(
        found,
        [
            "else/where.rs -> outer/b.rs: B",
            "outer/b.rs -> else/where.rs: A"
        ]
    );
    let missing: &Source = &|path| (path == Path::new("lib.rs")).then(|| "mod a;".to_owned());
    assert!(
        circles_of(Path::new("lib.rs"), missing)
            .unwrap_err()
            .contains("a/mod.rs")
    );
}

#[test]
fn macros_are_found_by_name_where_they_are_called_without_a_path() {
    let files = [
        ("lib.rs", "#[macro_use] mod a; mod b;"),
        (
            "a.rs",
            "macro_rules! made { () => {} } fn f(_: crate::b::B) {}",
        ),
        ("b.rs", "pub struct B; made!();"),
    ];
    assert_eq!(circle(&files), ["a.rs -> b.rs: B", "b.rs -> a.rs: made"]);
}

#[test]
fn imports_that_name_each_other_end() {
    let files = [
        ("lib.rs", "mod a; mod b; fn f(_: a::Missing) {}"),
        ("a.rs", "pub use crate::b::*; pub use crate::b::Missing;"),
        ("b.rs", "pub use crate::a::*; pub use crate::a::Missing;"),
    ];
    assert!(circle(&files).is_empty());
}

#[test]
fn a_circle_is_a_fault_of_its_crate() {
    let circle = Circle {
        files: (0..3)
            .map(|file| PathBuf::from(format!("{file}.rs")))
            .collect(),
        ties: Vec::new(),
    };
    let found = |circles| Found::from([("library/a".to_owned(), circles)]);
    assert!(faults(&found(Vec::new())).is_empty());
    let faults = faults(&found(vec![circle]));
    assert!(matches!(&faults[..], [one] if one.starts_with("library/a: 3 files in circles")));
}
