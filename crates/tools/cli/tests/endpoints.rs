//! `weft bench` on verbs: short runs of every benchmark on the device in software. Parts are processes of this program, as in long ones.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

const WEFT: &str = env!("CARGO_BIN_EXE_weft");
/// The categories that share nothing between threads that a lock guards.
const INDEPENDENT: [&str; 4] = ["mpi-everywhere", "2xdynamic", "dynamic", "shared-dynamic"];
const CATEGORIES: usize = 6;

/// The device that cargo built for these tests.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let built = test.parent().expect("deps").join("libibverbs.so");
    assert!(built.exists(), "{} is not built", built.display());
    built
}

fn weft(arguments: &str) -> Output {
    let mut command = Command::new(WEFT);
    command.arg("bench").args(arguments.split(' '));
    command.arg("--library").arg(library());
    command.output().expect("weft runs")
}

/// The only benchmark of a run, as JSON.
fn bench(arguments: &str) -> Value {
    let output = weft(&format!("{arguments} --json"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {errors}");
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(all["device"], "device softrdma0, in software");
    all["benchmarks"][0].clone()
}

fn points(benchmark: &Value) -> &Vec<Value> {
    benchmark["points"].as_array().expect("points")
}

/// Of all kinds of locks, over all rounds.
fn contentions(counters: impl Iterator<Item = Value>) -> u64 {
    let locks = ["send_lock", "uuar_lock", "cq_lock"];
    let of = |c: Value| locks.map(|lock| c[lock]["contentions"].as_u64().expect("a count"));
    counters.map(|c| of(c).iter().sum::<u64>()).sum()
}

fn rounds(point: &Value) -> impl Iterator<Item = Value> {
    let rounds = point["rounds"].as_array().expect("rounds").clone();
    rounds.into_iter().map(|mut round| round["counters"].take())
}

fn is_rate(value: &Value) -> bool {
    value
        .as_f64()
        .is_some_and(|rate| rate.is_finite() && rate > 0.0)
}

#[test]
fn messages_are_told_of_as_the_features_say() {
    let found = bench("message-rate --sizes 1,2 --rounds 1 --seconds 0.05 --bytes 2");
    assert_eq!(points(&found).len(), 2 * 5);
    for point in points(&found) {
        assert!(is_rate(&point["messages_per_second"]), "{point}");
        let counters = rounds(point).next().unwrap();
        let of = |name: &str| counters[name].as_u64().unwrap();
        // One request in 32 is told of, or every one, by BlueFlame unless there is none; a round's last request stands alone.
        let (told, ends) = (of("doorbells") + of("blueflame_writes"), 2);
        match point["features"].as_str().unwrap() {
            "w/o postlist" => {
                assert!(of("blueflame_writes") == of("requests") && told == of("posts"))
            }
            "w/o BlueFlame" => {
                assert!(of("blueflame_writes") == 0 && of("doorbells") == of("posts"))
            }
            _ => assert!(told <= of("requests") / 32 + ends, "{point}"),
        }
        assert_eq!(contentions(rounds(point)), 0, "{point}");
    }
}

#[test]
fn categories_take_what_the_paper_says() {
    let found = bench("categories --sizes 16 --rounds 1 --seconds 0.02");
    let resources = |name: &str| {
        let is_it = |p: &&Value| p["category"] == name && p["features"] == "all";
        points(&found).iter().find(is_it).unwrap()["rounds"][0]["resources"].clone()
    };
    let expected = [
        // UARs, uUARs, used, queue pairs, completion queues
        ("mpi-everywhere", [128, 256, 16, 16, 16]),
        ("2xdynamic", [40, 80, 32, 32, 32]),
        ("dynamic", [24, 48, 16, 16, 16]),
        ("shared-dynamic", [16, 32, 16, 16, 16]),
        ("static", [8, 16, 15, 16, 16]),
        ("mpi-threads", [8, 16, 1, 1, 1]),
    ];
    for (name, numbers) in expected {
        let own = resources(name);
        let own = ["uars", "uuars", "used_uuars", "qps", "cqs"].map(|of| own[of].as_u64().unwrap());
        assert_eq!(own, numbers, "{name}");
    }
}

#[test]
fn who_shares_nothing_contends_for_nothing() {
    let found = bench("categories --sizes 2,4 --rounds 1 --seconds 0.1");
    for point in points(&found) {
        let (name, seen) = (
            point["category"].as_str().unwrap(),
            contentions(rounds(point)),
        );
        if INDEPENDENT.contains(&name) {
            assert_eq!(seen, 0, "{point}");
        }
        if name == "mpi-threads" && point["features"] == "conservative" {
            assert!(seen > 0, "{point}");
        }
    }
}

#[test]
fn sharing_a_queue_pair_brings_contention_and_saves_memory() {
    let found = bench("sharing --threads 4 --sizes 1,4 --rounds 1 --seconds 0.04");
    let point = |resource: &str, ways: u64| {
        let is_it = |p: &&Value| {
            p["resource"] == resource && p["ways"] == ways && p["line"] == "w/o postlist"
        };
        points(&found).iter().find(is_it).unwrap().clone()
    };
    for resource in ["BUF", "CTX", "PD", "MR"] {
        assert_eq!(contentions(rounds(&point(resource, 4))), 0, "{resource}");
    }
    assert_eq!(contentions(rounds(&point("QP", 1))), 0);
    assert!(contentions(rounds(&point("QP", 4))) > 0);
    let of = |ways: u64, what: &str| point("QP", ways)["rounds"][0]["resources"][what].clone();
    assert_eq!(
        (of(1, "qps"), of(4, "qps"), of(4, "cqs")),
        (4.into(), 1.into(), 1.into())
    );
    let context = |ways: u64| point("CTX", ways)["rounds"][0]["resources"]["uars"].clone();
    assert_eq!((context(1), context(4)), ((4 * 9).into(), (8 + 4).into()));
}

#[test]
fn products_are_exact_in_every_category() {
    let found = bench("global-array --sizes 1,3 --order 40 --tile 8 --rounds 1 --seconds 0.02");
    assert_eq!(points(&found).len(), 2 * CATEGORIES);
    for point in points(&found) {
        assert!(is_rate(&point["reads_per_second"]) && is_rate(&point["writes_per_second"]));
        assert!(is_rate(&point["product_seconds"]), "{point}");
        let reads = point["rounds"][0]["reads"]["counters"].clone();
        if INDEPENDENT.contains(&point["category"].as_str().unwrap()) {
            assert_eq!(contentions([reads].into_iter()), 0, "{point}");
        }
    }
}

#[test]
fn halos_and_the_grid_are_exact_in_every_category_and_division() {
    let found = bench("stencil --threads 4 --rounds 1 --seconds 0.02");
    // 4.1, 2.2 and 1.4.
    assert_eq!(points(&found).len(), 3 * CATEGORIES);
    for point in points(&found) {
        assert!(is_rate(&point["messages_per_second"]), "{point}");
        let resources = &point["rounds"][0]["resources"];
        let (ranks, threads) = (&point["ranks_a_node"], &point["threads_a_rank"]);
        let (n, t) = (ranks.as_u64().unwrap(), threads.as_u64().unwrap());
        let (uars, qps) = match point["category"].as_str().unwrap() {
            "mpi-everywhere" => (n * t * 8, n * t * 2),
            "2xdynamic" => (n * (8 + 4 * t), n * t * 4),
            "dynamic" => (n * (8 + 2 * t), n * t * 2),
            "shared-dynamic" => (n * (8 + t), n * t * 2),
            "static" => (n * 8, n * t * 2),
            _ => (n * 8, n * 2),
        };
        assert_eq!(resources["uars"], uars, "{point}");
        assert_eq!(resources["qps"], qps, "{point}");
        assert_eq!(resources["cqs"], qps / 2, "{point}");
    }
}

#[test]
fn a_sender_drives_several_contexts() {
    let plot = tempfile::tempdir().unwrap();
    let file = plot.path().join("contexts.svg");
    let plotted = format!(
        "contexts --sizes 1,3 --rounds 1 --seconds 0.05 --plot {}",
        file.display()
    );
    let found = bench(&plotted);
    assert_eq!(points(&found).len(), 2);
    for point in points(&found) {
        assert!(is_rate(&point["messages_per_second"]), "{point}");
        assert!(is_rate(&point["per_post"]) && is_rate(&point["per_completed_send"]));
    }
    let picture = std::fs::read_to_string(file).unwrap();
    assert!(picture.matches("<polyline").count() == 5 && !picture.contains("NaN"));
}

#[test]
fn what_cannot_be_measured_is_told() {
    for (arguments, reason) in [
        (
            "sharing --threads 4 --sizes 3",
            "4 threads cannot be divided so",
        ),
        (
            "global-array --order 10 --tile 4",
            "10 rows cannot be divided into tiles of 4",
        ),
        ("stencil --bytes 12", "messages of 12 B are not whole cells"),
        (
            "contexts --device softrdma7",
            "no device softrdma7; there are: softrdma0",
        ),
        ("contexts pingpong", "benchmarks of MPI and those on verbs"),
    ] {
        let output = weft(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && errors.contains(reason),
            "{arguments}: {errors}"
        );
    }
}
