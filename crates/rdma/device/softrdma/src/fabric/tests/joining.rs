//! Finding the one fabric, however its members come and go.

use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use super::super::identity::Identity;
use super::super::{Fabric, JoinError, fabric_segment, name_service, socket};
use super::{PART, Player, Random, fabric_name, join, listen, opened, say};

/// Says in which fabric it is, then stays until it is told to go.
pub fn member(name: &str) {
    let fabric = Fabric::join(name).unwrap();
    let memfd = fabric.processes().as_fd().try_clone_to_owned();
    let inode = {
        // Duplicated and forgotten: closing it would end the lock.
        let file = std::mem::ManuallyDrop::new(std::fs::File::from(memfd.unwrap()));
        file.metadata().unwrap().ino()
    };
    say(&inode.to_string());
    loop {
        match listen().as_str() {
            "attend" => {
                fabric.attend_name().unwrap();
                say("attended");
            }
            _ => return,
        }
    }
}

fn inode(player: &mut Player) -> u64 {
    player.hear().unwrap().parse().unwrap()
}

/// Members die at random, the server of the name among them, and several come at a time; whoever lives at the same time is in
/// one fabric.
#[test]
fn there_is_never_a_second_fabric() {
    let words = [fabric_name("splitting")];
    let mut random = Random(5);
    let mut living: Vec<Player> = vec![Player::start("member", &words)];
    let first = inode(&mut living[0]);
    for _ in 0..40 {
        let mut newcomers: Vec<Player> = (0..3).map(|_| Player::start("member", &words)).collect();
        while living.len() > 1 {
            let leaver = random.next() as usize % living.len();
            let mut leaver = living.swap_remove(leaver);
            std::thread::sleep(std::time::Duration::from_micros(random.next() % 3000));
            leaver.kill();
        }
        for newcomer in &mut newcomers {
            assert_eq!(inode(newcomer), first);
        }
        living.append(&mut newcomers);
    }
    // All gone: the next fabric is another one.
    drop(living);
    let mut newcomer = Player::start("member", &words);
    assert_ne!(inode(&mut newcomer), first);
}

/// As above without anybody who stays: all that come at once agree.
#[test]
fn newcomers_agree() {
    for round in 0..10 {
        let words = [fabric_name(&format!("agreeing{round}"))];
        let mut players: Vec<Player> = (0..6).map(|_| Player::start("member", &words)).collect();
        let inodes: Vec<u64> = players.iter_mut().map(inode).collect();
        assert!(inodes.iter().all(|&inode| inode == inodes[0]), "{inodes:?}");
    }
}

/// A member takes the name of a server that died, and hands the segment to who asks for it.
#[test]
fn a_member_takes_the_name_over() {
    let words = [fabric_name("keeping")];
    let mut server = Player::start("member", &words);
    let first = inode(&mut server);
    let mut member = Player::start("member", &words);
    assert_eq!(inode(&mut member), first);
    server.kill();
    let identity = Identity::of_process().unwrap();
    let address = name_service::address(&identity, &words[0]).unwrap();
    member.tell("attend");
    assert_eq!(member.hear().as_deref(), Some("attended"));
    let connection = socket::open(libc::SOCK_SEQPACKET).unwrap();
    socket::connect(connection.as_fd(), &address).unwrap();
    assert_eq!(
        socket::peer(connection.as_fd()).unwrap().pid as u32,
        member.pid()
    );
    member.tell("attend");
    assert_eq!(member.hear().as_deref(), Some("attended"));
    let greeting = socket::receive(connection.as_fd(), &mut [0; 8]).unwrap();
    let memfd = greeting.descriptor.unwrap();
    let file = std::fs::File::from(memfd);
    assert_eq!(file.metadata().unwrap().ino(), first);
}

/// Takes the locks of all slots.
pub fn occupant(name: &str) {
    let fabric = Fabric::join(name).unwrap();
    let mut lock: libc::flock = {
        // SAFETY: all zeros is a valid `flock`.
        unsafe { std::mem::zeroed() }
    };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    lock.l_len = 255;
    let fd = std::os::fd::AsRawFd::as_raw_fd(&fabric.processes().as_fd());
    // SAFETY: `lock` is readable.
    assert_eq!(unsafe { libc::fcntl(fd, libc::F_SETLK, &lock) }, 0);
    say("full");
    listen();
}

#[test]
fn a_full_fabric_is_an_error_that_says_so() {
    let name = fabric_name("full");
    let mut occupant = Player::start("occupant", std::slice::from_ref(&name));
    assert_eq!(occupant.hear().as_deref(), Some("full"));
    let error = Fabric::join(&name).map(drop).unwrap_err();
    assert!(matches!(error, JoinError::Full));
    assert!(error.to_string().contains("255 processes"), "{error}");
    assert_eq!(
        opened(&format!(
            "/memfd:{} (deleted)",
            fabric_segment::memfd_name(&name)
        )),
        0
    );
    occupant.kill();
    Fabric::join(&name).unwrap();
}

/// Holds the name of another user's fabric.
pub fn squatter(name: &str) {
    let address = socket::Address::new(name).unwrap();
    let listener = socket::open(libc::SOCK_SEQPACKET).unwrap();
    socket::bind(listener.as_fd(), &address).unwrap();
    socket::listen(listener.as_fd()).unwrap();
    say("ready");
    listen();
}

#[test]
fn another_users_fabric_is_not_joined() {
    let identity = Identity::of_process().unwrap();
    if identity.user != 0 {
        eprintln!("not tested, as only root can be two users: fabrics of another user");
        return;
    }
    let name = fabric_name("foreign");
    let mut squatter = Command::new(std::env::current_exe().unwrap());
    squatter
        .args(["--exact", "fabric::tests::player", "--nocapture"])
        .env(PART, format!("squatter softrdma.0.{name}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    // SAFETY: the child only changes its user.
    unsafe {
        squatter.pre_exec(|| {
            libc::setgid(65_534);
            match libc::setuid(65_534) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        })
    };
    let Ok(child) = squatter.spawn() else {
        eprintln!(
            "not tested, as other users cannot run the test program: fabrics of another user"
        );
        return;
    };
    let mut squatter = Player::adopt(child);
    assert_eq!(squatter.hear().as_deref(), Some("ready"));
    let error = Fabric::join(&name).map(drop).unwrap_err();
    assert!(matches!(error, JoinError::OtherUser(65_534)), "{error}");
}

#[test]
fn long_names_are_refused() {
    let error = Fabric::join(&"x".repeat(100)).map(drop).unwrap_err();
    assert!(matches!(error, JoinError::Name));
}

#[test]
fn one_process_is_one_member() {
    let first = join("once");
    assert!(std::ptr::eq(first, join("once")));
    assert_eq!(first.processes().living().len(), 1);
    assert_eq!(first.me().slot(), 0);
    assert!(std::ptr::eq(
        Fabric::joined(&fabric_name("once")).unwrap(),
        first
    ));
}
