//! The prices that are built in, beside what was measured: the tables in `docs/results/by-algorithm`.

use weft_prices::{Group, Lists, Prices};
use weft_tune::{PLAIN, Point, Summary, fit, judge, read, summary};

macro_rules! tables {
    ($($name:literal),+) => {
        [$(include_str!(concat!("../../../../docs/results/by-algorithm/", $name, "-ranks.txt"))),+]
    };
}

fn points(tables: &[&str]) -> Vec<Point> {
    let read = tables.iter().map(|table| read(table).unwrap());
    read.flatten().collect()
}

fn far() -> Vec<Point> {
    points(&tables!("16-cores-4", "16-cores-8", "16-cores-16"))
}

fn far_pair() -> Vec<Point> {
    points(&tables!("2-cores-far-2", "2-cores-far-2-again"))
}

fn near() -> Vec<Point> {
    points(&tables!("2-cores-2", "2-cores-2-again"))
}

fn shared_cores() -> Vec<Point> {
    points(&tables!(
        "2-cores-4",
        "2-cores-4-again",
        "2-cores-8",
        "2-cores-8-again",
        "2-cores-16"
    ))
}

/// What is far from the fastest is printed.
fn judged(points: &[Point], prices: &Prices) -> Summary {
    let judged = judge(points, prices);
    for one in judged.iter().filter(|one| one.ratio() > 1.3) {
        println!("{one}");
    }
    let found = summary(&judged);
    println!("mean {:.3}, at most {:.2}", found.mean, found.most);
    found
}

/// Where no choice was ever made by these figures a guess would take some 1.7 of the time of the fastest.
#[test]
fn what_is_chosen_is_the_fastest_or_near_it() {
    for (points, group, count, mean, most) in [
        (far(), Group::Far, 300, 1.045, 2.4),
        (far_pair(), Group::Far, 236, 1.05, 1.7),
        (near(), Group::Near, 155, 1.02, 1.5),
        (shared_cores(), Group::SharedCores, 208, 1.05, 3.0),
    ] {
        assert_eq!(points.len(), count);
        let found = judged(&points, Lists::BUILT_IN.of(group));
        assert!(found.mean < mean && found.most < most, "{found:?}");
    }
}

/// From prices of no machine's the search comes to such as choose no worse than those that are built in.
fn are_found(points: &[Point], group: Group) {
    let found = judged(points, &fit(points, &PLAIN));
    let built_in = judged(points, Lists::BUILT_IN.of(group));
    assert!(found.mean < built_in.mean + 0.002, "{found:?} {built_in:?}");
}

#[test]
fn prices_of_far_cores_are_found() {
    are_found(&[far(), far_pair()].concat(), Group::Far);
}

#[test]
fn prices_of_near_cores_are_found() {
    are_found(&near(), Group::Near);
}

#[test]
fn prices_of_shared_cores_are_found() {
    are_found(&shared_cores(), Group::SharedCores);
}

/// Of a machine that charges these prices exactly.
#[test]
fn prices_that_made_a_table_are_found_by_it() {
    let made = Lists::BUILT_IN.of(Group::Near).0.map(|price| 1.7 * price);
    let mut points = near();
    for figure in points.iter_mut().flat_map(|point| &mut point.figures) {
        figure.measured_ns = Prices(made).of(&figure.counts);
        figure.core_ns = figure.measured_ns;
    }
    let found = judged(&points, &fit(&points, &PLAIN));
    assert!(found.mean < 1.005, "{found:?}");
}
