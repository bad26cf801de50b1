//! Records and pages in the memory that processes share, read from this process and from another.

use std::ffi::c_int;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use weft_verbs_abi::softrdma_stat as Stat;

use super::*;
use crate::fabric::Fabric;
use crate::uar::capi::softrdma_stat;
use crate::uar::stat;

const CHILD_FABRIC: &str = "SOFTRDMA_TEST_UAR_FABRIC";

/// Opens contexts on device 1 of `fabric`, as a device does.
fn open(fabric: &'static Fabric, limit: u32) -> Context {
    let pages = DevicePages {
        pages: fabric.pages(1),
        limit,
    };
    let ledger = Ledger::new(Box::new(SegmentChunks(fabric.own_segment())));
    Context::open(Settings::default(), 1, Arc::new(pages), Arc::new(ledger)).unwrap()
}

/// A process that has a context with a thread domain and 40 completion queues, until it is ended.
struct Other(Child);

impl Other {
    fn start(fabric: &str) -> Other {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "uar::tests::shared::other_process",
                "--nocapture",
            ])
            .env(CHILD_FABRIC, fabric)
            .arg0("weft-uar-test")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = lines
            .map_while(Result::ok)
            .any(|line| line.contains("ready"));
        assert!(ready);
        Other(child)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// The other process, when it is started as such; a test of nothing otherwise.
#[test]
fn other_process() {
    let Ok(name) = std::env::var(CHILD_FABRIC) else {
        return;
    };
    let context = open(Fabric::join(&name).unwrap(), 8163);
    let _domain = context.alloc_td(None).unwrap();
    let queues: Vec<_> = (0..40).map(|_| context.create_cq(false).unwrap()).collect();
    drop(queues[39].enter());
    println!("ready");
    std::io::stdout().flush().unwrap();
    let _ = std::io::stdin().read_line(&mut String::new());
}

fn fabric_name(of: &str) -> String {
    format!("uar-{of}-{}", std::process::id())
}

#[test]
fn figures_are_read_without_a_place_in_the_fabric() {
    let name = fabric_name("look");
    assert_eq!(stat::processes(&name).unwrap(), []);
    let other = Other::start(&name);
    assert!(Fabric::joined(&name).is_none());
    let processes = stat::processes(&name).unwrap();
    assert_eq!(processes.len(), 1);
    assert_eq!(processes[0].pid, other.0.id());
    assert!(!processes[0].program.is_empty());
    let [context] = &processes[0].contexts[..] else {
        panic!("one context");
    };
    assert_eq!((context.device, context.number), (1, 1));
    assert_eq!(context.figures.uars(), 9);
    assert_eq!(
        (context.figures.cqs, context.figures.cq_lock.takes),
        (40, 1)
    );
    assert!(Fabric::joined(&name).is_none());
    drop(other);
    assert_eq!(stat::processes(&name).unwrap(), []);
}

#[test]
fn members_see_themselves_and_pages_of_the_dead_come_back() {
    let name = fabric_name("member");
    let fabric = Fabric::join(&name).unwrap();
    let first = Other::start(&name);
    let context = open(fabric, 8163);
    let _queue_pair = context.create_qp(None).unwrap();
    let processes = stat::processes(&name).unwrap();
    assert_eq!(processes.len(), 2);
    let mine = stat::process(&name, std::process::id()).unwrap().unwrap();
    assert_eq!(mine.contexts.len(), 1);
    assert_eq!(mine.contexts[0].figures.qps, 1);
    assert_eq!(fabric.pages(1).taken(), 8 + 9);
    drop(first);
    // All that are left are too few unless the dead one's come back.
    let others: Vec<Context> = (0..2).map(|_| open(fabric, 24)).collect();
    assert_eq!(fabric.pages(1).taken(), 24);
    drop(others);
    assert_eq!(fabric.pages(1).taken(), 8);
    // Looking has not cost the process its place.
    let second = Other::start(&name);
    assert_eq!(stat::processes(&name).unwrap().len(), 2);
    drop(second);
}

fn ask(pid: c_int, device: c_int) -> (c_int, [u64; 40]) {
    let mut words = [7; 40];
    // SAFETY: so many bytes are writable.
    let errno = unsafe { softrdma_stat(pid, device, words.as_mut_ptr().cast(), 320) };
    (errno, words)
}

#[test]
fn c_callers_get_as_much_as_they_have_room_for() {
    // This process's own figures are empty: it has not opened a device of the fabric that the environment names.
    let (errno, words) = ask(0, -1);
    assert_eq!((errno, words), (0, [0; 40]));
    let mut few = [7u8; 16];
    // SAFETY: 12 bytes are writable.
    let errno = unsafe { softrdma_stat(0, -1, few.as_mut_ptr().cast::<Stat>(), 12) };
    assert_eq!((errno, few[11], few[12]), (0, 0, 7));
    assert_eq!(ask(0, -2).0, libc::EINVAL);
    assert_eq!(ask(-2, 0).0, libc::EINVAL);
    assert_eq!(ask(1, 0).0, libc::ESRCH);
    assert_eq!(ask(-1, 0).0, 0);
    // SAFETY: null is refused.
    let errno = unsafe { softrdma_stat(0, -1, std::ptr::null_mut(), 0) };
    assert_eq!(errno, libc::EINVAL);
}

/// Each field of the C structure is where the Rust one has it, by a program that a C compiler made of the header.
#[test]
fn the_header_has_the_layout_of_the_library() {
    let expected = format!(
        "{} {} {} {} {} {}\n",
        size_of::<Stat>(),
        std::mem::offset_of!(Stat, used_uuars),
        std::mem::offset_of!(Stat, bytes),
        std::mem::offset_of!(Stat, blueflame_bytes),
        std::mem::offset_of!(Stat, send_lock),
        std::mem::offset_of!(Stat, srq_lock.contentions),
    );
    let program = "#include <softrdma.h>\n#include <stdio.h>\n#define AT(field) offsetof(struct softrdma_stat, field)\n\
        int main(void) { printf(\"%zu %zu %zu %zu %zu %zu\\n\", sizeof(struct softrdma_stat), AT(used_uuars), AT(bytes), \
        AT(blueflame_bytes), AT(send_lock), AT(srq_lock.contentions)); return 0; }\n";
    let folder = std::env::temp_dir().join(format!("softrdma-header-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("probe.c"), program).unwrap();
    let compiled = Command::new("cc")
        .args([
            "-std=c99", "-Wall", "-Wextra", "-Werror", "probe.c", "-o", "probe",
        ])
        .arg(concat!(
            "-I",
            env!("CARGO_MANIFEST_DIR"),
            "/../../../../include"
        ))
        .current_dir(&folder)
        .status()
        .unwrap();
    let output = Command::new(folder.join("probe")).output();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(compiled.success());
    assert_eq!(String::from_utf8_lossy(&output.unwrap().stdout), expected);
}
