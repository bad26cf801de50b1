//! The performance variables (MPI-5.0 §15.3.7): what the engine counts.

use std::borrow::Cow;
use std::sync::LazyLock;

use weft_engine::{Counts, Engine};
use weft_objects::comm::arena::COUNTS;
use weft_process::engine::started;
use weft_process::job::oversubscribed_here;
use weft_process::network::{Network, adapters, interfaces};
use weft_rdma::Rdma;
use weft_tcp::{Tcp, Traffic};

use super::codes::Verbosity;

/// Classes of variables (MPI-5.0 §15.3.7), with the ABI's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Class {
    State = 1,
    Level = 2,
    HighWatermark = 5,
    Counter = 7,
    Aggregate = 8,
}

/// A performance variable: a 64-bit unsigned number, or an `int` of [`WAITING`] for the one state.
pub struct Variable {
    pub name: Cow<'static, str>,
    pub description: Cow<'static, str>,
    pub class: Class,
    pub verbosity: Verbosity,
    source: Source,
}

/// Where a variable's value is read.
enum Source {
    Field(fn(&Reading) -> u64),
    /// Of one interface.
    Interface(String, fn(&Traffic) -> u64),
    /// Of one adapter's port.
    Adapter(String, fn(&weft_rdma::Traffic) -> u64),
}

impl Variable {
    pub(super) fn of(&self, reading: &Reading) -> u64 {
        match &self.source {
            Source::Field(field) => field(reading),
            Source::Interface(name, field) => {
                let found = reading.traffic.iter().find(|one| one.interface == *name);
                found.map_or(0, field)
            }
            Source::Adapter(name, field) => {
                let mut all = reading.adapters.iter();
                all.find(|one| one.adapter == *name).map_or(0, field)
            }
        }
    }

    fn of_adapter(name: &str) -> [Variable; 2] {
        let variable = |end: &str, what: &str, field: fn(&weft_rdma::Traffic) -> u64| Variable {
            name: format!("weft_rdma_{}_{end}", name.replace(':', "_")).into(),
            description: format!("Bytes {what} by the adapter and port {name}").into(),
            class: Class::Aggregate,
            verbosity: Verbosity::TunerBasic,
            source: Source::Adapter(name.to_owned(), field),
        };
        [
            variable("sent_bytes", "of frames and writes sent", |traffic| {
                traffic.sent_bytes
            }),
            variable("read_bytes", "read from other processes", |traffic| {
                traffic.read_bytes
            }),
        ]
    }

    fn of_interface(name: &str) -> [Variable; 2] {
        let variable = |end: &str, what: &str, field: fn(&Traffic) -> u64| Variable {
            name: format!("weft_tcp_{name}_{end}").into(),
            description: format!("Bytes {what} other hosts by the interface {name}").into(),
            class: Class::Aggregate,
            verbosity: Verbosity::TunerBasic,
            source: Source::Interface(name.to_owned(), field),
        };
        [
            variable("sent_bytes", "sent to", |traffic| traffic.sent_bytes),
            variable("received_bytes", "received from", |traffic| {
                traffic.received_bytes
            }),
        ]
    }

    /// Always running, and never written. The others count from when a handle starts, for each handle apart.
    pub fn is_continuous(&self) -> bool {
        !matches!(self.class, Class::Counter | Class::Aggregate)
    }
}

/// An enumeration: its name, and names by value.
pub struct Enumeration {
    pub name: &'static str,
    pub items: &'static [&'static str],
}

/// How threads of this process wait.
pub static WAITING: Enumeration = Enumeration {
    name: "weft_waiting",
    items: &["a core for each process", "more processes than cores"],
};

macro_rules! variables {
    ($($name:literal $class:ident $verbosity:ident $($field:ident).+ $description:literal;)*) => {
        [$(|| Variable {
            name: Cow::Borrowed($name),
            description: Cow::Borrowed($description),
            class: Class::$class,
            verbosity: Verbosity::$verbosity,
            source: Source::Field(|reading| reading.$($field).+),
        }),*]
    };
}

/// All of them, by index: those of the interfaces and adapters that this process has, or would have, are last.
pub static ALL: LazyLock<Vec<Variable>> = LazyLock::new(|| {
    let interfaces = interfaces().into_iter();
    let of_interfaces = interfaces.flat_map(|name| Variable::of_interface(&name));
    let adapters = adapters().into_iter();
    let of_adapters = adapters.flat_map(|name| Variable::of_adapter(&name));
    always().chain(of_interfaces).chain(of_adapters).collect()
});

fn always() -> impl Iterator<Item = Variable> {
    // One by one: a list of all is longer than a small thread's stack.
    const ALWAYS: &[fn() -> Variable] = &variables! {
        "weft_messages_eager" Counter UserBasic counts.tally.eager "Messages sent to other processes with their payload in the first packet";
        "weft_packets_aggregated" Counter TunerBasic counts.tally.aggregates "Packets sent that held several such messages";
        "weft_messages_rendezvous" Counter UserBasic counts.tally.rts "Longer messages sent, whose payload follows the match";
        "weft_messages_kept" Counter TunerBasic counts.tally.rts_only "Messages whose payload was kept back, the receiver having too much unmatched";
        "weft_messages_unexpected" Counter UserBasic counts.tally.unexpected "Messages that came before their receive";
        "weft_bytes_unexpected" Aggregate TunerBasic counts.tally.unexpected_bytes "Payload of those that needed memory of its own";
        "weft_unexpected_length" Level UserBasic counts.unexpected_now "Unexpected messages that wait for a receive";
        "weft_unexpected_bytes" Level TunerBasic counts.unexpected_bytes_now "Memory of their payload";
        "weft_posted_length" Level UserBasic counts.posted_now "Posted receives that wait for a message";
        "weft_matching_operations" Counter TunerDetail counts.matching_operations "Posts, arrivals and cancels";
        "weft_matching_steps" Counter TunerDetail counts.matching_steps "Buckets and cells that those looked at";
        "weft_matching_steps_max" HighWatermark TunerDetail counts.matching_steps_max "Of the operation that looked at most";
        "weft_lanes_used" Level TunerBasic counts.lanes "Lanes in use";
        "weft_lane_entries" Counter DeveloperBasic counts.tally.entries "How often a lane's section was entered";
        "weft_lane_submissions" Counter TunerBasic counts.tally.submitted "Requests that found their lane's section held by another thread";
        "weft_sleeps" Counter TunerBasic counts.sleeps "How often a thread went to sleep in a call that waits";
        "weft_background_wakes" Counter TunerBasic counts.background_wakes "How often the thread woke that makes progress while the program computes";
        "weft_arenas" Counter TunerBasic arenas "Communicators that got memory which all their processes share, for blocking collective operations";
        "weft_arenas_refused" Counter TunerBasic arenas_refused "Communicators that could not have it, whose operations go by messages";
        "weft_shm_links" Level TunerBasic shm.links "Links to processes of this host, one per lane and process";
        "weft_shm_bytes" Level TunerBasic shm.bytes "Shared memory that they take";
        "weft_shm_calls" Counter TunerDetail shm.calls "System calls that copied between processes";
        "weft_tcp_links" Level TunerBasic tcp.links "Connections to processes of other hosts";
        "weft_tcp_bytes_sent" Aggregate UserBasic tcp.sent_bytes "Bytes sent to other hosts";
        "weft_tcp_bytes_received" Aggregate UserBasic tcp.received_bytes "Bytes received from other hosts";
        "weft_tcp_bytes_copied" Aggregate TunerBasic tcp.copied_bytes "Bytes of long messages that were copied between the network and the program's memory";
        "weft_tcp_stripes" Level TunerBasic tcp.stripes "Connections that carry parts of long messages by further interfaces";
        "weft_tcp_stripes_lost" Counter TunerBasic tcp.stripes_lost "Such connections that failed, whose parts went by others";
        "weft_tcp_calls_sent" Counter TunerBasic tcp.sends "System calls that sent something";
        "weft_tcp_calls_received" Counter TunerBasic tcp.receives "System calls that received something";
        "weft_tcp_calls_idle" Counter TunerDetail tcp.idle_calls "System calls that looked for something in vain";
        "weft_rdma_adapters" Level UserBasic rdma.adapters "Ports of adapters in use";
        "weft_rdma_failovers" Counter UserBasic rdma.failovers "How often links changed from an adapter that had failed them to another";
        "weft_rdma_links" Level TunerBasic rdma.links "Links to other processes by adapters, one per lane and process";
        "weft_rdma_lanes" Level TunerBasic rdma.lanes "Lanes that have a completion queue of an adapter";
        "weft_rdma_uars" Level TunerBasic rdma.uars "Pages of the adapter's registers (UARs) that this process has; planned ones where the adapter does not tell";
        "weft_rdma_uuars" Level TunerBasic rdma.uuars "Micro UARs (uUARs) on these pages";
        "weft_rdma_completion_queues" Level TunerBasic rdma.completion_queues "Completion queues: of each adapter one per lane and one for datagrams";
        "weft_rdma_queue_pairs" Level TunerBasic rdma.queue_pairs "Queue pairs (RC) to other processes";
        "weft_rdma_xrc_send_queue_pairs" Level TunerBasic rdma.send_queue_pairs "Queue pairs (XRC) to hosts";
        "weft_rdma_xrc_receive_queue_pairs" Level TunerBasic rdma.receive_queue_pairs "Queue pairs (XRC) of this host by which messages of others come to this process";
        "weft_rdma_shared_receive_queues" Level TunerBasic rdma.shared_receive_queues "Shared receive queues, one per lane and receive pool";
        "weft_rdma_receive_buffers" Level TunerBasic rdma.buffers "Buffers of receive pools";
        "weft_rdma_receive_bytes" Level TunerBasic rdma.buffer_bytes "Bytes of these buffers";
        "weft_rdma_datagrams" Counter TunerBasic rdma.datagrams "Datagrams sent to make links, repeated ones too";
        "weft_rdma_requests" Counter UserBasic rdma.requests "Work requests that were posted to adapters";
        "weft_rdma_posts" Counter TunerBasic rdma.posts "Lists in which they were posted";
        "weft_rdma_gathered" Counter TunerBasic rdma.gathered "Packets that left in one frame with others";
        "weft_rdma_reads" Counter UserBasic rdma.reads "Reads of other processes' memory by adapters that are done";
        "weft_rdma_bytes_read" Aggregate UserBasic rdma.read_bytes "Bytes that adapters read from the memory of other processes";
        "weft_rdma_writes" Counter UserBasic rdma.writes "Writes to other processes' memory by adapters that are done";
        "weft_rdma_bytes_written" Aggregate UserBasic rdma.written_bytes "Bytes that adapters wrote to the memory of other processes";
        "weft_file_bytes_read" Aggregate UserBasic file.read_bytes "Bytes read from files";
        "weft_file_bytes_written" Aggregate UserBasic file.written_bytes "Bytes written to files";
        "weft_file_calls_read" Counter TunerBasic file.reads "System calls that read files";
        "weft_file_calls_written" Counter TunerBasic file.writes "System calls that wrote files";
        "weft_file_accesses" Counter UserBasic file.accesses "Accesses to files that the program made";
        "weft_file_two_phase_accesses" Counter TunerBasic file.two_phase_accesses "Collective ones that went by two phases";
        "weft_file_bytes_aggregated" Aggregate TunerBasic file.aggregated_bytes "Bytes that this process read or wrote for others in them";
        "weft_waiting" State TunerBasic oversubscribed "How long waiting threads stay awake";
    };
    ALWAYS.iter().map(|variable| variable())
}

/// All that variables are read from, of one moment.
#[derive(Default)]
pub(super) struct Reading {
    pub counts: Counts,
    arenas: u64,
    arenas_refused: u64,
    oversubscribed: u64,
    shm: SharedMemory,
    tcp: weft_tcp::Counters,
    traffic: Vec<Traffic>,
    file: weft_file::Counters,
    rdma: weft_rdma::Counters,
    adapters: Vec<weft_rdma::Traffic>,
}

/// What all lanes have of shared memory.
#[derive(Default)]
struct SharedMemory {
    links: u64,
    bytes: u64,
    calls: u64,
}

fn shared_memory(engine: &Engine<Network>) -> SharedMemory {
    let mut all = SharedMemory::default();
    engine.each_endpoint(|endpoint| {
        let counters = endpoint.near().counters();
        all.links += counters.links;
        all.bytes += counters.link_bytes + counters.block_bytes + counters.bulk_bytes;
        all.calls += counters.copies;
    });
    all
}

/// Nothing is counted before `MPI_Init`.
pub(super) fn reading() -> Reading {
    started().map_or(Reading::default(), |engine| {
        let (arenas, arenas_refused) = COUNTS.read();
        let (rdma, tcp) = engine
            .fabric()
            .far()
            .map(|far| far.parts())
            .unwrap_or_default();
        Reading {
            counts: engine.counts(),
            arenas,
            arenas_refused,
            oversubscribed: oversubscribed_here().into(),
            shm: shared_memory(engine),
            file: weft_file::counters(),
            tcp: tcp.map(Tcp::counters).unwrap_or_default(),
            traffic: tcp.map(Tcp::traffic).unwrap_or_default(),
            rdma: rdma.map(Rdma::counters).unwrap_or_default(),
            adapters: rdma.map(Rdma::traffic).unwrap_or_default(),
        }
    })
}
