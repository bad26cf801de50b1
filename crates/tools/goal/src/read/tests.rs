use super::*;
use crate::write;

const EXAMPLE: &str = "num_ranks 2

rank 0 {
l3 requires l1 // before its operations
l1: send 8b to 1 tag 7
calc 100
l3: recv 16b from 1
}
rank 1 {
a: recv 8b from 0 tag 7
b: send 16b to 0 tag 0
b irequires a
}
";

fn read_text(text: &str) -> Result<Schedule, Unreadable> {
    read(text.as_bytes())
}

#[test]
fn statements_are_read() {
    let schedule = read_text(EXAMPLE).unwrap();
    let first = &schedule.ranks[0];
    let expected = [
        Operation::Send {
            to: 1,
            bytes: 8,
            tag: 7,
        },
        Operation::Calc { ns: 100 },
        Operation::Receive {
            from: 1,
            bytes: 16,
            tag: 0,
        },
    ];
    assert_eq!(first.operations, expected);
    let order = |operation, before, until| Order {
        operation,
        before,
        until,
    };
    assert_eq!(first.orders, [order(2, 0, Until::Over)]);
    assert_eq!(schedule.ranks[1].orders, [order(1, 0, Until::Begun)]);
}

#[test]
fn what_is_written_is_read_again() {
    let schedule = read_text(EXAMPLE).unwrap();
    let mut text = Vec::new();
    write(&schedule, &mut text).unwrap();
    assert_eq!(read(&text[..]).unwrap(), schedule);
}

#[test]
fn what_is_wrong_is_one_line_with_the_number_of_its_line() {
    let cases = [
        ("", 1, "there is no num_ranks"),
        ("num_ranks 1\nnum_ranks 1", 2, "a second time"),
        ("num_ranks -1", 1, "\"-1\" is no number up to 4294967295"),
        ("num_ranks +1", 1, "\"+1\" is no number"),
        ("rank 0 {", 1, "num_ranks has to stand before"),
        (
            "num_ranks 2\nrank 1 {",
            2,
            "rank 1 stands where rank 0 belongs",
        ),
        (
            "num_ranks 4000000000\n",
            2,
            "of 4000000000 ranks there are 0",
        ),
        (
            "num_ranks 1\nrank 0 {\n}\nrank 1 {",
            4,
            "there are 1 ranks, and this is one more",
        ),
        ("num_ranks 1\nrank 0 {\n", 3, "rank 0 has no end"),
        (
            "num_ranks 1\nrank 0 {\nrank 1 {\n",
            3,
            "\"rank 1 {\" is no statement",
        ),
        ("num_ranks 1\n}\n", 2, "\"}\" stands where"),
        (
            "num_ranks 1\nrank 0 {\nx: calc\n",
            3,
            "\"calc\" is no statement",
        ),
        (
            "num_ranks 1\nrank 0 {\ncalc 281474976710657\n",
            3,
            "is no number up to 281474976710656",
        ),
        (
            "num_ranks 1\nrank 0 {\nsend 8 to 0\n",
            3,
            "\"8\" is no length such as 8b",
        ),
        (
            "num_ranks 1\nrank 0 {\nsend 8b to 1\n",
            3,
            "rank 1 is none of 1",
        ),
        (
            "num_ranks 1\nrank 0 {\nrecv 8b from any\n",
            3,
            "\"any\" is no number",
        ),
        (
            "num_ranks 1\nrank 0 {\ncalc 1 cpu 1\n",
            3,
            "\"calc 1 cpu 1\" is no statement",
        ),
        (
            "num_ranks 1\nrank 0 {\nsend 8b to 0 nic 1\n",
            3,
            "\"nic 1\" stands where `tag N` belongs",
        ),
        (
            "num_ranks 1\nrank 0 {\na: calc 1\na: calc 1\n",
            4,
            "label \"a\" stands here a second time",
        ),
        (
            "num_ranks 1\nrank 0 {\na: calc 1\nb requires a\n\n}",
            6,
            "no label \"b\", which line 4 names",
        ),
    ];
    for (text, line, what) in cases {
        let error = read_text(text).unwrap_err();
        assert_eq!(error.line, line, "{text:?}: {error}");
        assert!(error.what.contains(what), "{text:?}: {error}");
        assert_eq!(error.to_string().lines().count(), 1);
    }
    let error = read(&b"num_ranks 1\n\xff\n"[..]).unwrap_err();
    assert_eq!(error.to_string(), "line 2: it is no text in UTF-8");
    let long = format!("num_ranks {}", "x".repeat(1000));
    assert!(read_text(&long).unwrap_err().to_string().len() < 100);
}
