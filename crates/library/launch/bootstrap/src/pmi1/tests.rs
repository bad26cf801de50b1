//! The client against servers that misbehave as real ones do, and worse, over `PMI_PORT`.

use super::Client;
use crate::{Bootstrap, Error, Exchange, Hosts, Job, Result};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

/// Serves one client on a thread: `answer` gives the reply to each line, or `None` to close.
fn serve(
    answer: impl FnMut(&str) -> Option<String> + Send + 'static,
) -> impl Fn(&str) -> Option<String> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().to_string();
    let mut answer = answer;
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        for line in lines.map_while(|line| line.ok()) {
            match answer(&line) {
                Some(reply) => stream.write_all(reply.as_bytes()).unwrap(),
                None => return,
            }
        }
    });
    move |name: &str| match name {
        "PMI_PORT" => Some(port.clone()),
        "PMI_ID" => Some("5".into()),
        _ => None,
    }
}

/// An honest server for rank 1 of 2, with short values, without a mapping and with result codes left out.
fn honest() -> impl FnMut(&str) -> Option<String> + Send {
    let mut store: HashMap<String, String> = HashMap::new();
    move |line| {
        let message = super::Message::parse(line.as_bytes()).unwrap();
        Some(match message.command() {
            "initack" => {
                assert_eq!(message.field("pmiid"), Some("5"));
                "cmd=initack rc=0\ncmd=set size=2\ncmd=set rank=1\ncmd=set debug=0\n".into()
            }
            "init" => "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n".into(),
            "get_maxes" => "cmd=maxes kvsname_max=16 keylen_max=32 vallen_max=90\n".into(),
            "get_my_kvsname" => "cmd=my_kvsname kvsname=K\n".into(),
            "get_appnum" => "cmd=appnum appnum=-1\n".into(),
            "get_universe_size" => "cmd=universe_size size=-1\n".into(),
            "put" => {
                let value = message.field("value").unwrap();
                assert!(value.len() < 90);
                let key = message.field("key").unwrap();
                store.insert(key.to_owned(), value.to_owned());
                // The other rank, on another host, does the same.
                store.insert(
                    key.replace("-1", "-0"),
                    value.replace(|c: char| c.is_ascii_digit() && c != '1', "1"),
                );
                "cmd=put_result\n".into()
            }
            "get" => match store.get(message.field("key").unwrap()) {
                Some(value) => format!("cmd=get_result value={value}\n"),
                None => "cmd=get_result rc=-1 msg=key_not_found\n".into(),
            },
            "barrier_in" => "cmd=barrier_out\n".into(),
            "finalize" => "cmd=finalize_ack\n".into(),
            other => panic!("{other}"),
        })
    }
}

fn connect(answer: impl FnMut(&str) -> Option<String> + Send + 'static) -> Result<(Client, Job)> {
    Client::connect(&serve(answer))
}

#[test]
fn works_with_a_server_that_says_little() {
    let (client, job) = connect(honest()).unwrap();
    assert_eq!(
        (job.rank, job.size, job.app_num, job.universe_size),
        (1, 2, -1, None)
    );
    assert_eq!(
        (job.local_ranks, job.local_rank, job.local_size),
        (vec![1], 0, 1)
    );
    let card = "0123456789=".repeat(100);
    client.publish("card", 1, &card).unwrap();
    client.fence(&mut || ()).unwrap();
    assert_eq!(client.card("card", 1).unwrap(), card);
    assert!(matches!(client.card("card", 7), Err(Error::Card(_))));
    client.finalize().unwrap();
}

/// The end of a fence comes before or behind the answer to what is asked meanwhile, in one piece with it.
#[test]
fn cards_are_asked_for_during_a_fence() {
    for (before, behind) in [("cmd=barrier_out\n", ""), ("", "cmd=barrier_out\n")] {
        let mut honest = honest();
        let (mut fences, mut is_in_fence) = (0, false);
        let (client, _) = connect(move |line: &str| {
            if line.starts_with("cmd=barrier_in") {
                fences += 1;
                // The first is the one that hosts are told in.
                is_in_fence = fences > 1;
                return honest(line).map(|end| if is_in_fence { String::new() } else { end });
            }
            let answer = honest(line)?;
            Some(match std::mem::take(&mut is_in_fence) {
                true => format!("{before}{answer}{behind}"),
                false => answer,
            })
        })
        .unwrap();
        client.publish("card", 1, "here").unwrap();
        let mut turns = 0;
        let asks = &mut || {
            turns += 1;
            assert_eq!(client.card("card", 1).unwrap(), "here");
        };
        client.fence(asks).unwrap();
        assert_eq!(turns, 1);
        // The end of the fence is not taken for the next answer.
        assert_eq!(client.card("card", 1).unwrap(), "here");
    }
}

/// Each reply in turn is replaced by something else; the client refuses in one line, and neither hangs nor panics.
#[test]
fn refuses_a_server_that_breaks_the_protocol() {
    for at in 0..8 {
        for bad in [
            "",
            "\n",
            "hello\n",
            "cmd=other rc=0\n",
            "cmd=get_result rc\n",
            "\u{fffd}\n",
        ] {
            let (mut honest, mut count) = (honest(), 0);
            let answer = move |line: &str| {
                count += 1;
                let reply = honest(line)?;
                if count - 1 != at {
                    return Some(reply);
                }
                (!bad.is_empty()).then(|| bad.to_owned())
            };
            let error = connect(answer)
                .err()
                .unwrap_or_else(|| panic!("{bad:?} at {at}"));
            assert!(
                matches!(error, Error::Launcher(_)) && !error.to_string().contains('\n'),
                "{error}"
            );
        }
    }
}

#[test]
fn refuses_a_line_without_end_and_a_rank_outside_the_job() {
    let endless = |_: &str| Some("x".repeat(3 << 20));
    assert!(
        connect(endless)
            .err()
            .unwrap()
            .to_string()
            .contains("without end")
    );
    let outside =
        |_: &str| Some("cmd=initack\ncmd=set size=2\ncmd=set rank=2\ncmd=set debug=0\n".to_owned());
    assert!(
        connect(outside)
            .err()
            .unwrap()
            .to_string()
            .contains("rank 2 of 2")
    );
}

#[test]
fn names_the_variable_that_cannot_be_used() {
    let refusal = |set: &[(&str, &str)]| {
        let variable = |name: &str| {
            set.iter()
                .find(|(set, _)| *set == name)
                .map(|(_, value)| value.to_string())
        };
        Client::connect(&variable).err().unwrap().to_string()
    };
    assert!(refusal(&[("PMI_FD", "x")]).starts_with("PMI_FD is set"));
    assert!(refusal(&[("PMI_FD", "-1")]).starts_with("PMI_FD is set"));
    assert!(refusal(&[("PMI_FD", "987654")]).starts_with("PMI_FD is set"));
    // Port 1 of the loopback has no listener.
    assert!(
        refusal(&[("PMI_PORT", "127.0.0.1:1"), ("PMI_ID", "0")]).starts_with("PMI_PORT is set")
    );
}

/// A server for a whole job, which tells all ranks `mapping`, and in its maxima `lists`: where each of them connects.
fn serve_job(size: u32, mapping: &'static str, lists: &'static str) -> Vec<String> {
    let store = Arc::new(Mutex::new(HashMap::<String, String>::new()));
    let barrier = Arc::new(Barrier::new(size as usize));
    let serve_rank = |rank: u32| {
        let (store, barrier) = (store.clone(), barrier.clone());
        let answers = serve(move |line| {
            let message = super::Message::parse(line.as_bytes()).unwrap();
            let field = |name| message.field(name).unwrap().to_owned();
            Some(match message.command() {
                "initack" => format!(
                    "cmd=initack rc=0\ncmd=set size={size}\ncmd=set rank={rank}\ncmd=set debug=0\n"
                ),
                "init" => "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n".into(),
                "get_maxes" => {
                    format!("cmd=maxes kvsname_max=16 keylen_max=32 vallen_max=1024{lists}\n")
                }
                "get_my_kvsname" => "cmd=my_kvsname kvsname=K\n".into(),
                "get_appnum" => "cmd=appnum appnum=0\n".into(),
                "get_universe_size" => "cmd=universe_size size=-1\n".into(),
                "put" => {
                    store.lock().unwrap().insert(field("key"), field("value"));
                    "cmd=put_result rc=0\n".into()
                }
                "get" if field("key") == "PMI_process_mapping" => {
                    format!("cmd=get_result rc=0 value={mapping}\n")
                }
                "get" => {
                    let store = store.lock().unwrap();
                    let keys = field("key");
                    assert!(!lists.is_empty() || !keys.contains(','));
                    let values = keys.split(',').map(|key| store.get(key).cloned());
                    match values.collect::<Option<Vec<_>>>() {
                        Some(values) => format!("cmd=get_result rc=0 value={}\n", values.join(",")),
                        None => "cmd=get_result rc=-1\n".into(),
                    }
                }
                "barrier_in" => {
                    barrier.wait();
                    "cmd=barrier_out\n".into()
                }
                other => panic!("{other}"),
            })
        });
        answers("PMI_PORT").unwrap()
    };
    (0..size).map(serve_rank).collect()
}

/// What each rank of a job knows of cores, where its host's are told by the launcher: none on a host with 0.
fn agreed(mapping: &'static str, cores: &'static [u32]) -> Vec<(u32, bool)> {
    let [one_by_one, together] =
        ["", " keys_max=8192"].map(|lists| agreed_with(mapping, cores, lists));
    assert_eq!(one_by_one, together);
    together
}

fn agreed_with(
    mapping: &'static str,
    cores: &'static [u32],
    lists: &'static str,
) -> Vec<(u32, bool)> {
    let ports = serve_job(cores.len() as u32, mapping, lists);
    let ranks = ports.into_iter().zip(cores).map(|(port, cores)| {
        thread::spawn(move || {
            let variable = |name: &str| match name {
                "PMI_PORT" => Some(port.clone()),
                "PMI_ID" => Some("0".into()),
                "WEFT_HOST_CORES" => (*cores > 0).then(|| cores.to_string()),
                _ => None,
            };
            let (client, job) = Client::connect(&variable).unwrap();
            let exchange = Exchange::Pmi1(client);
            let bootstrap = Bootstrap::new(job, exchange);
            bootstrap.publish("card").unwrap();
            bootstrap.fence().unwrap();
            let together = |cards: &[String]| vec![0; cards.len()];
            // Longer than a value of the launcher's may be.
            let announcement = "word".repeat(1000);
            let own = (bootstrap.job().rank == 0).then(|| announcement.clone());
            let agreed = bootstrap.agree(&together, own).unwrap();
            assert_eq!(
                (agreed.apart, agreed.announcement),
                (None, Some(announcement))
            );
            let cores = agreed.cores;
            (cores.here, cores.oversubscribed)
        })
    });
    let ranks: Vec<_> = ranks.collect();
    ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
}

#[test]
fn all_ranks_know_alike_whether_any_host_has_too_few_cores() {
    assert_eq!(agreed("(vector,(0,1,2))", &[2, 2]), [(2, false); 2]);
    assert_eq!(agreed("(vector,(0,1,2))", &[1, 1]), [(1, true); 2]);
    // One host of two has too few, each rank knowing its own.
    assert_eq!(
        agreed("(vector,(0,2,2))", &[4, 4, 1, 1]),
        [(4, true), (4, true), (1, true), (1, true)]
    );
    assert_eq!(
        agreed("(vector,(0,1,3),(1,1,1))", &[3, 3, 3, 1]),
        [(3, false), (3, false), (3, false), (1, false)]
    );
    let here = std::thread::available_parallelism().unwrap().get() as u32;
    assert_eq!(
        agreed("(vector,(0,2,1))", &[0, 0]),
        [(here, false), (here, false)]
    );
}

/// Which hosts each rank of a job has, where ranks share memory whose cards are the same, and the card of rank 0 that it reads behind that.
fn apart(mapping: &'static str, cards: &'static [&'static str]) -> Vec<(Option<Hosts>, String)> {
    let ports = serve_job(cards.len() as u32, mapping, " keys_max=8192");
    let ranks = ports.into_iter().zip(cards).map(|(port, card)| {
        thread::spawn(move || {
            let variable = |name: &str| match name {
                "PMI_PORT" => Some(port.clone()),
                "PMI_ID" => Some("0".into()),
                "WEFT_HOST_CORES" => Some("9".into()),
                _ => None,
            };
            let (client, job) = Client::connect(&variable).unwrap();
            let bootstrap = Bootstrap::new(job, Exchange::Pmi1(client));
            bootstrap.publish(card).unwrap();
            bootstrap.fence().unwrap();
            let alike = |cards: &[String]| {
                let first = |card| cards.iter().position(|other| other == card).unwrap() as u32;
                cards.iter().map(first).collect()
            };
            let apart = bootstrap.agree(&alike, None).unwrap().apart;
            if apart.is_some() {
                bootstrap.publish_anew("anew").unwrap();
                bootstrap.fence().unwrap();
            }
            (apart.map(|job| job.hosts), bootstrap.card(0).unwrap())
        })
    });
    let ranks: Vec<_> = ranks.collect();
    ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
}

#[test]
fn all_ranks_know_alike_who_shares_memory() {
    let hosts = |names: &[u32]| Some(Hosts::named(names.iter().copied()));
    let anew = |names: &[u32]| vec![(hosts(names), "anew".to_owned()); names.len()];
    let one_host = "(vector,(0,1,4))";
    assert_eq!(apart(one_host, &["a"; 4]), vec![(None, "a".into()); 4]);
    assert_eq!(apart(one_host, &["a", "b", "a", "c"]), anew(&[0, 1, 0, 2]));
    assert_eq!(apart(one_host, &["a", "b", "c", "d"]), anew(&[0, 1, 2, 3]));
    let two_hosts = "(vector,(0,2,2))";
    assert_eq!(apart(two_hosts, &["a", "a", "b", "c"]), anew(&[0, 0, 1, 2]));
    assert_eq!(
        apart(two_hosts, &["a", "a", "b", "b"]),
        vec![(None, "a".into()); 4]
    );
}
