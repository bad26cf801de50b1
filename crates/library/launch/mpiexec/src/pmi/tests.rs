use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

fn server(ranks: usize) -> Server {
    Server::new(job(ranks as u32), std::iter::repeat_n(0, ranks))
}

fn job(size: u32) -> Job {
    Job {
        name: "space".into(),
        size,
        mapping: format!("(vector,(0,1,{size}))"),
    }
}

fn say(server: &mut Server, rank: u32, line: &str) -> Vec<Event> {
    let mut events = Vec::new();
    server.line(rank, line.as_bytes(), &mut events);
    events
}

fn answer(server: &mut Server, rank: u32, line: &str) -> String {
    match say(server, rank, line).remove(0) {
        Event::Reply(to, text) if to == rank => text.trim_end().to_owned(),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn answers_every_question_of_start_up() {
    let mut server = Server::new(job(3), [0, 0, 1].into_iter());
    let events = say(&mut server, 2, "cmd=init pmi_version=1 pmi_subversion=1");
    assert_eq!(
        events,
        [
            Event::Reply(
                2,
                "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n".into()
            ),
            Event::Started(2)
        ]
    );
    assert_eq!(server.standing(2), Standing::Active);
    for (question, expected) in [
        (
            "cmd=get_maxes",
            "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024 keys_max=8192",
        ),
        ("cmd=get_appnum", "cmd=appnum rc=0 appnum=1"),
        ("cmd=get_universe_size", "cmd=universe_size rc=0 size=3"),
        ("cmd=get_my_kvsname", "cmd=my_kvsname rc=0 kvsname=space"),
        (
            "cmd=get kvsname=space key=PMI_process_mapping",
            "cmd=get_result rc=0 value=(vector,(0,1,3))",
        ),
        (
            "cmd=get kvsname=other key=a",
            "cmd=get_result rc=-1 msg=no_such_kvsname",
        ),
        (
            "cmd=put kvsname=space key=a value=b=c",
            "cmd=put_result rc=0",
        ),
        (
            "cmd=get kvsname=space key=a",
            "cmd=get_result rc=0 value=b=c",
        ),
        ("cmd=finalize", "cmd=finalize_ack rc=0"),
        (
            "cmd=lookup_name service=x",
            "cmd=lookup_name_result rc=-1 msg=unknown_command",
        ),
    ] {
        let events = say(&mut server, 2, question);
        assert!(
            events.contains(&Event::Reply(2, format!("{expected}\n"))),
            "{question}: {events:?}"
        );
    }
    assert_eq!(server.standing(2), Standing::Finalized);
    assert_eq!(server.standing(0), Standing::New);
}

#[test]
fn refuses_what_it_does_not_do() {
    let mut server = server(1);
    assert!(answer(&mut server, 0, "cmd=init pmi_version=2 pmi_subversion=0").ends_with("rc=-1"));
    assert_eq!(server.standing(0), Standing::New);
    let long = "k".repeat(KEY_MAX_BYTES + 1);
    assert!(
        answer(
            &mut server,
            0,
            &format!("cmd=put kvsname=space key={long} value=1")
        )
        .contains("rc=-1")
    );
    let long = "v".repeat(VALUE_MAX_BYTES + 1);
    assert!(
        answer(
            &mut server,
            0,
            &format!("cmd=put kvsname=space key=k value={long}")
        )
        .contains("rc=-1")
    );
    assert!(answer(&mut server, 0, "cmd=put kvsname=space key=k").contains("rc=-1"));
    assert!(answer(&mut server, 0, "cmd=get kvsname=space key=k").contains("rc=-1"));
    for line in ["mcmd=spawn", "nprocs=1", "execname=a b"] {
        assert!(
            say(&mut server, 0, line)
                .iter()
                .all(|event| matches!(event, Event::Note(..))),
            "{line}"
        );
    }
    assert!(answer(&mut server, 0, "endcmd").starts_with("cmd=spawn_result rc=-1"));
    assert!(answer(&mut server, 0, "cmd=get_appnum").contains("appnum=0"));
}

#[test]
fn a_rank_cannot_store_without_bound() {
    let mut server = server(1);
    let value = "v".repeat(1000);
    let refused = (0..100_000).any(|key| {
        answer(
            &mut server,
            0,
            &format!("cmd=put kvsname=space key={key} value={value}"),
        )
        .contains("too_much_stored")
    });
    assert!(refused);
}

#[test]
fn a_barrier_opens_for_all_at_once() {
    let mut server = server(3);
    assert_eq!(server.waiting(), None);
    assert!(say(&mut server, 1, "cmd=barrier_in").is_empty());
    assert!(say(&mut server, 2, "cmd=barrier_in").is_empty());
    assert_eq!(server.waiting(), Some(1));
    assert!(matches!(
        say(&mut server, 1, "cmd=barrier_in")[..],
        [Event::Broken(1, _)]
    ));
    let out = |rank| Event::Reply(rank, "cmd=barrier_out rc=0\n".into());
    assert_eq!(
        say(&mut server, 0, "cmd=barrier_in"),
        [out(0), out(1), out(2)]
    );
    assert_eq!(server.waiting(), None);
    assert!(say(&mut server, 0, "cmd=barrier_in").is_empty());
}

/// Two of three ranks are here.
#[test]
fn what_is_put_goes_out_with_the_fence_and_what_is_missing_is_asked_for_once() {
    let mut server = Server::new(job(3), std::iter::repeat_n(0, 2));
    say(&mut server, 0, "cmd=put kvsname=space key=a value=1");
    assert!(answer(&mut server, 1, "cmd=get key=a").ends_with("value=1"));
    assert!(say(&mut server, 0, "cmd=barrier_in").is_empty());
    let fence = Event::Fence(vec![("a".into(), "1".into())]);
    assert_eq!(say(&mut server, 1, "cmd=barrier_in"), [fence]);
    assert_eq!(server.waiting(), Some(0));
    let mut events = Vec::new();
    server.release(false, &mut events);
    let out = |rank| Event::Reply(rank, "cmd=barrier_out rc=0\n".into());
    assert_eq!(events, [out(0), out(1)]);
    assert_eq!(server.waiting(), None);

    assert_eq!(
        say(&mut server, 0, "cmd=get key=b"),
        [Event::Ask("b".into())]
    );
    assert!(say(&mut server, 1, "cmd=get key=b").is_empty());
    assert!(matches!(
        say(&mut server, 1, "cmd=get key=c")[..],
        [Event::Broken(1, _)]
    ));
    events.clear();
    server.answer("b", Some("2"), &mut events);
    let told = |rank| Event::Reply(rank, "cmd=get_result rc=0 value=2\n".into());
    assert_eq!(events, [told(0), told(1)]);
    assert_eq!(say(&mut server, 1, "cmd=get key=b"), [told(1)]);

    say(&mut server, 0, "cmd=get key=none");
    events.clear();
    server.answer("none", None, &mut events);
    assert!(matches!(&events[..], [Event::Reply(0, text)] if text.contains("key_not_found")));
    // Not kept: somebody may put it yet.
    assert_eq!(
        say(&mut server, 0, "cmd=get key=none"),
        [Event::Ask("none".into())]
    );

    server.release(true, &mut events);
    assert_eq!(
        say(&mut server, 1, "cmd=get key=b"),
        [Event::Ask("b".into())]
    );
}

#[test]
fn values_of_several_hosts_are_asked_for_at_once() {
    let mut server = Server::new(job(3), std::iter::repeat_n(0, 2));
    for (key, value) in [("a", 1), ("b", 2)] {
        say(
            &mut server,
            0,
            &format!("cmd=put kvsname=space key={key} value={value}"),
        );
    }
    assert!(answer(&mut server, 1, "cmd=get key=b,a").ends_with("value=2,1"));
    let ask = || [Event::Ask("a,c".into())];
    assert_eq!(say(&mut server, 1, "cmd=get key=a,c"), ask());
    let mut events = Vec::new();
    server.answer("a,c", Some("1,3"), &mut events);
    let told = Event::Reply(1, "cmd=get_result rc=0 value=1,3\n".into());
    assert_eq!(events, [told]);
    // Not kept.
    assert_eq!(say(&mut server, 1, "cmd=get key=a,c"), ask());
    let too_long = format!("cmd=get key={}", "c,".repeat(KEYS_MAX_BYTES));
    assert!(answer(&mut server, 0, &too_long).contains("rc=-1"));
}

#[test]
fn abort_and_broken_lines_end_the_job() {
    let mut server = server(2);
    assert_eq!(
        say(&mut server, 1, "cmd=abort exitcode=7 time_ns=99"),
        [Event::Abort(1, 7, 99)]
    );
    assert_eq!(say(&mut server, 1, "cmd=abort"), [Event::Abort(1, 1, 0)]);
    for line in ["", "hello", "cmd=", "cmd=get kvsname", "cmd=get key=\u{7}"] {
        assert!(
            matches!(say(&mut server, 0, line)[..], [Event::Broken(0, _)]),
            "{line:?}"
        );
    }
}

/// Lines that look like PMI, in any order and damaged.
fn pmi_line() -> impl Strategy<Value = Vec<u8>> {
    let command = prop::sample::select(vec![
        "init",
        "get_maxes",
        "put",
        "get",
        "barrier_in",
        "finalize",
        "abort",
        "mcmd=spawn",
        "endcmd",
        "nonsense",
    ]);
    let field = prop::sample::select(vec![
        "kvsname=space",
        "kvsname=other",
        "key=a",
        "key=b",
        "value=1",
        "value=",
        "pmi_version=1",
        "exitcode=x",
        "word",
    ]);
    let clean = (command, prop::collection::vec(field, 0..4)).prop_map(|(command, fields)| {
        let command = if command.contains("cmd") {
            command.to_owned()
        } else {
            format!("cmd={command}")
        };
        format!("{command} {}", fields.join(" ")).into_bytes()
    });
    prop_oneof![4 => clean, 1 => prop::collection::vec(any::<u8>().prop_filter("newline", |byte| *byte != b'\n'), 0..60)]
}

proptest! {
    /// Any lines are answered or refused; each answer is one line that a client can read; a barrier opens exactly when all
    /// are in it; and no rank ever reads a value that was not put.
    #[test]
    fn stands_any_lines(lines in prop::collection::vec((0u32..3, pmi_line()), 0..60)) {
        let mut server = server(3);
        let mut inside = [false; 3];
        let mut lines_of_command = [false; 3];
        let mut stored: HashMap<String, String> = HashMap::new();
        for (rank, line) in lines {
            let mut events = Vec::new();
            server.line(rank, &line, &mut events);
            let at = rank as usize;
            let hidden = lines_of_command[at];
            lines_of_command[at] = if hidden { line != b"endcmd" } else { line.starts_with(b"mcmd=") };
            let parsed = Message::parse(&line).ok().filter(|_| !hidden);
            let command = parsed.as_ref().map(Message::command);
            if command == Some("barrier_in") && !inside[at] {
                inside[at] = true;
                let opened = events.iter().filter(|e| matches!(e, Event::Reply(_, text) if text.contains("barrier_out")));
                prop_assert_eq!(opened.count(), if inside == [true; 3] { 3 } else { 0 });
                if inside == [true; 3] {
                    inside = [false; 3];
                }
            }
            for event in &events {
                if let Event::Reply(_, text) = event {
                    prop_assert!(text.ends_with('\n') && text.len() < LINE_MAX_BYTES);
                    let reply = Message::parse(text.trim_end().as_bytes()).unwrap();
                    let message = parsed.as_ref().unwrap_or(&reply);
                    let key = message.field("key").unwrap_or_default().to_owned();
                    match reply.command() {
                        "put_result" if reply.succeeded() => {
                            stored.insert(key, message.field("value").unwrap_or_default().to_owned());
                        }
                        "get_result" if reply.succeeded() => {
                            prop_assert_eq!(reply.field("value"), stored.get(&key).map(String::as_str));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}
