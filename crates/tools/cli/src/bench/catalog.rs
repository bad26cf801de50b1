//! The benchmarks that there are.

use super::benchmark::{Axis, Benchmark, Series, series};
use super::patterns::PATTERNS;

/// The series of `startup` that the driver measures itself: the whole `mpiexec` of a program that only initialises
/// and finalises.
pub const STARTUP_WALL: &str = "wall";

const SIZES: &[u64] = &[
    8,
    64,
    256,
    1 << 10,
    4 << 10,
    16 << 10,
    64 << 10,
    256 << 10,
    1 << 20,
    4 << 20,
];
const COLLECTIVE_SIZES: &[u64] = &[8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20];
const REQUESTS: Axis = Axis::Points {
    option: "n",
    defaults: &[
        64,
        256,
        1 << 10,
        4 << 10,
        16 << 10,
        64 << 10,
        256 << 10,
        1 << 20,
    ],
};

const fn requests(name: &'static str, about: &'static str, series: &'static [Series]) -> Benchmark {
    Benchmark {
        name,
        about,
        axis: REQUESTS,
        axis_label: "requests",
        series,
        seconds: 0.25,
        ..Benchmark::PLAIN
    }
}

/// One message at a time between two ranks, over its size.
const fn messages(name: &'static str, about: &'static str, series: &'static [Series]) -> Benchmark {
    Benchmark {
        axis: Axis::Points {
            option: "sizes",
            defaults: SIZES,
        },
        axis_label: "bytes",
        ..requests(name, about, series)
    }
}

pub const ALL: &[Benchmark] = &[
    messages(
        "pingpong",
        "one message to and fro between two ranks: latency and bandwidth",
        &[
            series("latency", "us", "half round trip"),
            series("bandwidth", "MB/s", "bandwidth"),
        ],
    ),
    messages(
        "exchange",
        "two ranks send one message each to the other at once: time and bandwidth both ways",
        &[
            series("time", "us", "time of an exchange"),
            series("bandwidth", "MB/s", "bandwidth, both ways together"),
        ],
    ),
    requests(
        "burst",
        "N sends and receives at once, in order, one tag",
        &[series("burst", "ns", "time per message")],
    ),
    requests(
        "shuffle",
        "N sends and receives at once, N tags, receives in random order",
        &[series("shuffle", "ns", "time per message")],
    ),
    requests(
        "anysource",
        "shuffle with every receive from any source",
        &[series("anysource", "ns", "time per message")],
    ),
    requests(
        "anytag",
        "N receives of any tag, from one source and from any",
        &[
            series("anytag", "ns", "time per message"),
            series("anyboth", "ns", "time per message, any source too"),
        ],
    ),
    requests(
        "unexpected",
        "N messages that arrive before their receives, received in random order",
        &[series("unexpected", "ns", "time per message")],
    ),
    Benchmark {
        name: "overlap",
        about: "how much of a transfer proceeds while the program computes",
        axis: Axis::Points {
            option: "sizes",
            defaults: &[64 << 10, 256 << 10, 1 << 20, 4 << 20],
        },
        axis_label: "bytes",
        series: &[
            series("alone", "us", "transfer without computation"),
            series("sender", "%", "hidden while the sender computes"),
            series("receiver", "%", "hidden while the receiver computes"),
            series("both", "%", "hidden while both compute"),
        ],
        seconds: 0.25,
        ..Benchmark::PLAIN
    },
    Benchmark {
        name: "threads",
        about: "message rate of T threads a rank, by tags and by communicators",
        axis: Axis::Points {
            option: "threads",
            defaults: &[1, 2, 4, 8],
        },
        axis_label: "threads a rank",
        series: &[
            series("tags", "Mmsg/s", "one communicator, a tag for each thread"),
            series(
                "hints",
                "Mmsg/s",
                "the same, promised to be without wildcards",
            ),
            series("comms", "Mmsg/s", "a communicator for each thread"),
        ],
        seconds: 1.0,
        threads: true,
        ..Benchmark::PLAIN
    },
    Benchmark {
        name: "one-sided",
        about: "an access of N ints and its flush, on both kinds of window",
        axis: Axis::Points {
            option: "elements",
            defaults: &[1, 64, 4 << 10, 256 << 10],
        },
        axis_label: "elements",
        series: &[
            series("allocate-put", "us", "MPI_Put, MPI_Win_allocate"),
            series("allocate-get", "us", "MPI_Get, MPI_Win_allocate"),
            series(
                "allocate-accumulate",
                "us",
                "MPI_Accumulate, sum, MPI_Win_allocate",
            ),
            series(
                "allocate-get-accumulate",
                "us",
                "MPI_Get_accumulate, sum, MPI_Win_allocate",
            ),
            series(
                "allocate-fetch-and-op",
                "us",
                "N of MPI_Fetch_and_op, sum, MPI_Win_allocate",
            ),
            series("create-put", "us", "MPI_Put, MPI_Win_create"),
            series("create-get", "us", "MPI_Get, MPI_Win_create"),
            series(
                "create-accumulate",
                "us",
                "MPI_Accumulate, sum, MPI_Win_create",
            ),
            series(
                "create-get-accumulate",
                "us",
                "MPI_Get_accumulate, sum, MPI_Win_create",
            ),
            series(
                "create-fetch-and-op",
                "us",
                "N of MPI_Fetch_and_op, sum, MPI_Win_create",
            ),
        ],
        seconds: 0.1,
        ..Benchmark::PLAIN
    },
    Benchmark {
        name: "one-sided-threads",
        about: "operations of T threads on one window, 8 bytes each, flushed every 64; the target makes no call",
        axis: Axis::Points {
            option: "threads",
            defaults: &[1, 2, 4],
        },
        axis_label: "threads",
        series: &[
            series("put", "Mop/s", "MPI_Put"),
            series("get", "Mop/s", "MPI_Get"),
            series("fetch-and-op", "Mop/s", "MPI_Fetch_and_op, sum of int64"),
        ],
        seconds: 0.5,
        threads: true,
        ..Benchmark::PLAIN
    },
    Benchmark {
        name: "startup",
        about: "mpiexec of init and finalize, and memory of a rank",
        axis: Axis::Ranks { defaults: &[2, 16] },
        axis_label: "ranks",
        series: &[
            series(STARTUP_WALL, "ms", "mpiexec of init and finalize"),
            series("init", "ms", "MPI_Init in a rank"),
            series("memory", "KiB", "memory of a rank after MPI_Init"),
            series(
                "memory-connected",
                "KiB",
                "memory of a rank that has talked to all",
            ),
        ],
        seconds: 0.0,
        ..Benchmark::PLAIN
    },
    Benchmark {
        name: "collectives",
        about: "barrier and 8-byte allreduce, with more ranks than cores too",
        axis: Axis::Ranks { defaults: &[2, 16] },
        axis_label: "ranks",
        series: &[
            series("barrier", "us", "MPI_Barrier"),
            series("allreduce", "us", "MPI_Allreduce of 8 bytes"),
        ],
        seconds: 0.5,
        ..Benchmark::PLAIN
    },
    Benchmark {
        name: "collective-sizes",
        about: "each data-moving collective by bytes a rank; --ranks N for other than two ranks",
        axis: Axis::Points {
            option: "sizes",
            defaults: COLLECTIVE_SIZES,
        },
        axis_label: "bytes",
        series: &[
            series("bcast", "us", "MPI_Bcast"),
            series("reduce", "us", "MPI_Reduce, sum of int"),
            series("allreduce", "us", "MPI_Allreduce, sum of int"),
            series("gather", "us", "MPI_Gather"),
            series("scatter", "us", "MPI_Scatter"),
            series("allgather", "us", "MPI_Allgather"),
            series("alltoall", "us", "MPI_Alltoall"),
            series(
                "reduce-scatter",
                "us",
                "MPI_Reduce_scatter_block, sum of int",
            ),
        ],
        seconds: 0.05,
        any_ranks: true,
        ..Benchmark::PLAIN
    },
    Benchmark {
        name: "file",
        about: "16 MiB a rank to and from one file, dealt out in pieces of N bytes; --ranks N, --folder DIR",
        axis: Axis::Points {
            option: "sizes",
            defaults: &[16, 256, 4 << 10, 16 << 20],
        },
        axis_label: "bytes a piece",
        series: &[
            series("write-all", "MB/s", "MPI_File_write_at_all"),
            series("read-all", "MB/s", "MPI_File_read_at_all"),
            series("write", "MB/s", "MPI_File_write_at"),
            series("read", "MB/s", "MPI_File_read_at"),
            series("raw-write", "MB/s", "pwrite, a call each piece; no MPI"),
            series("raw-read", "MB/s", "pread, a call each piece; no MPI"),
        ],
        seconds: 0.25,
        any_ranks: true,
        floors: &[
            ("write-all", "raw-write"),
            ("read-all", "raw-read"),
            ("write", "raw-write"),
            ("read", "raw-read"),
        ],
        descending: true,
        makes_file: true,
        summary: true,
        ..Benchmark::PLAIN
    },
    Benchmark {
        name: "file-patterns",
        about: "BTIO, a checkpoint of a 3-D array and 10^6 pieces a rank: views, collective access, memory; --folder DIR",
        axis: Axis::Ranks { defaults: &[4] },
        axis_label: "ranks",
        series: &[
            series("bt-view", "ms", "BTIO: types made and view set"),
            series("bt-write", "MB/s", "BTIO: MPI_File_write_at_all"),
            series("bt-read", "MB/s", "BTIO: MPI_File_read_at_all"),
            series("bt-memory", "KiB", "BTIO: memory of a rank, at its peak"),
            series(
                "checkpoint-view",
                "ms",
                "3-D array: types made and view set",
            ),
            series(
                "checkpoint-write",
                "MB/s",
                "3-D array: MPI_File_write_at_all",
            ),
            series("checkpoint-read", "MB/s", "3-D array: MPI_File_read_at_all"),
            series(
                "checkpoint-memory",
                "KiB",
                "3-D array: memory of a rank, at its peak",
            ),
            series("pieces-view", "ms", "10^6 pieces: types made and view set"),
            series("pieces-write", "MB/s", "10^6 pieces: MPI_File_write_at_all"),
            series("pieces-read", "MB/s", "10^6 pieces: MPI_File_read_at_all"),
            series(
                "pieces-memory",
                "KiB",
                "10^6 pieces: memory of a rank, at its peak",
            ),
        ],
        seconds: 0.5,
        any_ranks: true,
        makes_file: true,
        summary: true,
        ..Benchmark::PLAIN
    },
    PATTERNS,
];

/// What `--tune` runs: its lines are of operations and algorithms, which the program knows.
pub const TUNE: Benchmark = Benchmark {
    name: "collective-tune",
    about: "each collective by every algorithm it has",
    axis: Axis::Points {
        option: "sizes",
        defaults: COLLECTIVE_SIZES,
    },
    axis_label: "bytes",
    seconds: 0.05,
    any_ranks: true,
    ..Benchmark::PLAIN
};

/// The machine's own limits: no MPI program, so no library's column.
pub const FLOOR: Benchmark = Benchmark {
    name: "floor",
    about: "what this machine allows two processes, without any MPI",
    axis: Axis::Points {
        option: "sizes",
        defaults: SIZES,
    },
    axis_label: "bytes",
    series: &[
        series("flip", "us", "a word in one cache line"),
        series("lines", "us", "a ring of cache lines"),
        series("ring", "us", "copies through a ring"),
        series("cma", "us", "both sides by process_vm_readv/writev"),
        series("memcpy", "MB/s", "one core's memcpy"),
        series("stream", "MB/s", "one way, x is the chunk"),
    ],
    seconds: 0.1,
    ..Benchmark::PLAIN
};

/// The network between two ranks: the library over TCP beside bare sockets, in one program.
pub const WIRE: Benchmark = Benchmark {
    name: "wire",
    about: "the library over TCP beside bare sockets, between two hosts (--hosts A,B) or over loopback",
    axis: Axis::Points {
        option: "sizes",
        defaults: &[8, 1 << 10, 16 << 10, 64 << 10, 1 << 20, 4 << 20],
    },
    axis_label: "bytes",
    series: &[
        series("tcp-spin", "us", "half round trip, sockets that are polled"),
        series("spin", "us", "half round trip, ranks that spin"),
        series("tcp-block", "us", "half round trip, sockets that block"),
        series("block", "us", "half round trip, ranks that sleep"),
        series("tcp-stream", "MB/s", "one way, x is the chunk"),
        series("stream", "MB/s", "one way, 16 messages under way"),
    ],
    seconds: 0.1,
    floors: &[
        ("spin", "tcp-spin"),
        ("block", "tcp-block"),
        ("stream", "tcp-stream"),
    ],
    ..Benchmark::PLAIN
};

/// The series of [`FLOOR`] that carry a whole message, of which the fastest is the floor of `pingpong`.
pub const FLOOR_TRANSFERS: &[&str] = &["lines", "ring", "cma"];

/// The benchmark of that name.
pub fn find(name: &str) -> Option<&'static Benchmark> {
    ALL.iter().chain([&FLOOR, &WIRE]).find(|b| b.name == name)
}
