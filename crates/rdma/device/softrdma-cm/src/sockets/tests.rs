//! Two sides in one process, over TCP on the loopback interface, without any device.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use super::*;

/// A channel that stands for one side. It stays for good: the thread may still hold it.
fn side() -> (Owner, &'static Channel) {
    let channel = Channel::create().unwrap();
    let owner = Owner {
        id: std::ptr::null_mut(),
        channel,
    };
    // SAFETY: it is never freed.
    (owner, unsafe { &*channel })
}

/// The next news of a side, which are `event`.
fn hear(channel: &Channel, event: rdma_cm_event_type) -> News {
    let news = channel.take().unwrap();
    assert_eq!((news.event, news.about), (event, std::ptr::null_mut()));
    news
}

fn any() -> OwnedFd {
    address::bind((Ipv4Addr::LOCALHOST, 0).into(), false).unwrap()
}

struct Listener {
    address: SocketAddr,
    channel: &'static Channel,
    token: u64,
}

fn listen() -> Listener {
    let (owner, channel) = side();
    let socket = any();
    let address = address::local(&socket).unwrap();
    let token = sockets().unwrap().listen(socket, 8, owner).unwrap();
    Listener {
        address,
        channel,
        token,
    }
}

fn request(port_space: rdma_port_space) -> Message {
    Message {
        port_space: port_space as u16,
        qp_num: 17,
        private: b"let me in".to_vec(),
        ..Message::bare(MessageKind::Request)
    }
}

fn reply(port_space: rdma_port_space) -> Message {
    Message {
        port_space: port_space as u16,
        qp_num: 18,
        private: b"you are".to_vec(),
        ..Message::bare(MessageKind::Reply)
    }
}

/// One side of a connection.
struct End {
    channel: &'static Channel,
    token: u64,
}

impl End {
    fn say(&self, stages: &[Stage], message: &Message, next: Stage) -> Outcome {
        sockets().unwrap().say(self.token, stages, message, next)
    }
}

/// Asks, and the one who is asked.
fn ask(listener: &Listener, port_space: rdma_port_space) -> (End, End) {
    let (owner, channel) = side();
    let connect = sockets()
        .unwrap()
        .connect(any(), listener.address, owner, request(port_space));
    let asking = End {
        channel,
        token: connect.unwrap(),
    };
    let news = hear(listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_eq!(news.peer, Some(request(port_space)));
    let (owner, channel) = side();
    let (local, _) = sockets().unwrap().adopt(news.token, owner).unwrap();
    assert_eq!(local, listener.address);
    let token = news.token;
    (asking, End { channel, token })
}

fn establish(listener: &Listener) -> (End, End) {
    let (asking, asked) = ask(listener, RDMA_PS_TCP);
    asked
        .say(&[Stage::Asked], &reply(RDMA_PS_TCP), Stage::Replied)
        .unwrap();
    let news = hear(asking.channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
    assert_eq!(news.peer, Some(reply(RDMA_PS_TCP)));
    let ready = Message::bare(MessageKind::Ready);
    asking
        .say(&[Stage::Answered], &ready, Stage::Established)
        .unwrap();
    hear(asked.channel, RDMA_CM_EVENT_ESTABLISHED);
    (asking, asked)
}

fn leave(end: &End) -> Outcome {
    let message = Message::bare(MessageKind::Disconnect);
    end.say(&[Stage::Established], &message, Stage::Leaving)
}

#[test]
fn a_connection_lives_and_ends() {
    let listener = listen();
    for asking_leaves in [true, false] {
        let (asking, asked) = establish(&listener);
        let (first, second) = if asking_leaves {
            (asking, asked)
        } else {
            (asked, asking)
        };
        leave(&first).unwrap();
        hear(second.channel, RDMA_CM_EVENT_DISCONNECTED);
        hear(first.channel, RDMA_CM_EVENT_DISCONNECTED);
        assert_eq!(leave(&second), Err(Errno(libc::ENOTCONN)));
    }
}

#[test]
fn both_sides_may_leave_at_once() {
    let (asking, asked) = establish(&listen());
    // One may hear of the other before it speaks; each is told once in any case.
    let answers = [leave(&asking), leave(&asked)];
    assert!(answers.iter().any(Result::is_ok));
    hear(asking.channel, RDMA_CM_EVENT_DISCONNECTED);
    hear(asked.channel, RDMA_CM_EVENT_DISCONNECTED);
}

#[test]
fn a_rejection_arrives_with_its_words() {
    let (asking, asked) = ask(&listen(), RDMA_PS_TCP);
    let reject = Message {
        reason: 28,
        private: b"not you".to_vec(),
        ..Message::bare(MessageKind::Reject)
    };
    asked.say(&[Stage::Asked], &reject, Stage::Leaving).unwrap();
    sockets().unwrap().forget(asked.token);
    let news = hear(asking.channel, RDMA_CM_EVENT_REJECTED);
    assert_eq!((news.status, news.peer), (28, Some(reject)));
}

#[test]
fn datagrams_need_a_reply_only() {
    let (asking, asked) = ask(&listen(), RDMA_PS_UDP);
    asked
        .say(&[Stage::Asked], &reply(RDMA_PS_UDP), Stage::Replied)
        .unwrap();
    sockets().unwrap().forget(asked.token);
    let news = hear(asking.channel, RDMA_CM_EVENT_ESTABLISHED);
    assert_eq!(news.peer, Some(reply(RDMA_PS_UDP)));
}

#[test]
fn nobody_listens() {
    let closed = {
        let socket = any();
        address::local(&socket).unwrap()
    };
    let (owner, channel) = side();
    sockets()
        .unwrap()
        .connect(any(), closed, owner, request(RDMA_PS_TCP))
        .unwrap();
    let news = hear(channel, RDMA_CM_EVENT_REJECTED);
    assert_eq!(news.status, INVALID_SERVICE);
}

/// A side that goes without a word, at every stage.
#[test]
fn the_other_side_dies() {
    let listener = listen();
    let die = |end: &End| sockets().unwrap().forget(end.token);

    let (asking, asked) = ask(&listener, RDMA_PS_TCP);
    die(&asked);
    let news = hear(asking.channel, RDMA_CM_EVENT_UNREACHABLE);
    assert_eq!(news.status, -libc::ECONNRESET);

    let (asking, asked) = ask(&listener, RDMA_PS_TCP);
    asked
        .say(&[Stage::Asked], &reply(RDMA_PS_TCP), Stage::Replied)
        .unwrap();
    hear(asking.channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
    die(&asking);
    hear(asked.channel, RDMA_CM_EVENT_CONNECT_ERROR);

    let (asking, asked) = establish(&listener);
    die(&asking);
    hear(asked.channel, RDMA_CM_EVENT_DISCONNECTED);
}

/// Strangers are hung up on, and the listener goes on.
#[test]
fn nonsense_ends_the_connection() {
    let listener = listen();
    let wrong_turn = Message::bare(MessageKind::Ready).encode();
    for bytes in [&[0x42; message::LEN], &wrong_turn] {
        let mut stranger = TcpStream::connect(listener.address).unwrap();
        stranger.write_all(bytes).unwrap();
        assert_eq!(std::io::Read::read(&mut stranger, &mut [0]).unwrap(), 0);
    }
    establish(&listener);
}

/// A request that waits when its listener goes, goes with it.
#[test]
fn a_listener_goes() {
    let listener = listen();
    let (owner, channel) = side();
    sockets()
        .unwrap()
        .connect(any(), listener.address, owner, request(RDMA_PS_TCP))
        .unwrap();
    let news = hear(listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
    sockets().unwrap().forget(listener.token);
    hear(channel, RDMA_CM_EVENT_UNREACHABLE);
    assert!(sockets().unwrap().adopt(news.token, owner).is_none());
}

/// News move with whom they are about, and so does the count that programs poll for.
#[test]
fn news_can_be_taken_out() {
    let (_, channel) = side();
    let mut ids = [0u8; 2];
    let [one, two] = ids
        .each_mut()
        .map(|id| std::ptr::from_mut(id).cast::<rdma_cm_id>());
    for about in [one, two, one] {
        channel.push(News {
            about,
            event: RDMA_CM_EVENT_ADDR_RESOLVED,
            status: 0,
            token: 0,
            peer: None,
        });
    }
    assert_eq!(channel.take_all_about(one).len(), 2);
    assert_eq!(channel.take().unwrap().about, two);
    assert!(channel.take_all_about(two).is_empty());
}
