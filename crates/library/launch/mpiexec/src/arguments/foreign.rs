//! Options of other launchers that there is nothing to do for here. `docs/coming-from.md` tells of them.

/// What becomes of such an option.
pub enum Foreign {
    /// It and this many values are taken and change nothing, for this reason.
    Idle {
        values: usize,
        because: &'static str,
    },
    /// It is refused, and this says what to write instead.
    Instead(&'static str),
}

/// `None` for an option that no launcher known here has.
pub fn find(name: &str) -> Option<&'static Foreign> {
    let mut rows = TABLE.iter();
    rows.find(|(names, _)| names.contains(&name))
        .map(|(_, meaning)| meaning)
}

type Row = (&'static [&'static str], Foreign);

const fn idle(values: usize, because: &'static str) -> Foreign {
    Foreign::Idle { values, because }
}

use Foreign::Instead;

/// Names without dashes.
pub(super) const TABLE: &[Row] = &[
    // So here in any case.
    (
        &["oversubscribe"],
        idle(0, "more ranks than cores is in order"),
    ),
    (&["allow-run-as-root"], idle(0, "root may run jobs")),
    (
        &["byslot"],
        idle(0, "ranks fill the slots of a host before the next"),
    ),
    (
        &["export", "export-all"],
        idle(0, "ranks get mpiexec's environment"),
    ),
    (
        &["get-stack-traces", "report-state-on-timeout"],
        idle(0, "after a timeout every rank says what it waits for"),
    ),
    (
        &["check_mpi", "check-mpi"],
        idle(0, "arguments of calls are checked in any case"),
    ),
    (
        &["preload-binary"],
        idle(
            0,
            "a program is read on each host, from the same path, and one that is not there is an error",
        ),
    ),
    (
        &["hetero-nodes"],
        idle(0, "each host's cores are looked at there"),
    ),
    (
        &["stream-buffering"],
        idle(1, "output is passed on as it is written"),
    ),
    (
        &["unbuffered", "u"],
        idle(0, "output is passed on as it is written"),
    ),
    (
        &["silent-abort", "q", "quiet", "Q"],
        idle(0, "mpiexec says nothing but why a job fails"),
    ),
    (
        &["print-all-exitcodes"],
        idle(
            0,
            "mpiexec names the rank that fails first, and its exit code",
        ),
    ),
    // Things that this launcher or library does not have, or finds out by itself.
    (
        &[
            "mca", "gmca", "omca", "pmixmca", "prtemca", "gpmixmca", "gprtemca",
        ],
        idle(2, "there are no parameters of another library's parts"),
    ),
    (&["tune", "am"], idle(1, "there is nothing to tune")),
    (
        &[
            "rmk",
            "topolib",
            "demux",
            "usize",
            "personality",
            "branch-count",
            "max-vm-size",
            "localhost",
            "port-range",
            "tree-width",
            "a",
        ],
        idle(1, "there is one way to do this"),
    ),
    (&["tmpdir"], idle(1, "no temporary files are made")),
    (
        &["prefix", "app-prefix", "pmix-prefix", "app-pmix-prefix"],
        idle(1, "the same paths are used on every host"),
    ),
    (
        &["noprefix", "no-app-prefix", "hybrid-hosts"],
        idle(0, "the same paths are used on every host"),
    ),
    (
        &[
            "disable-hostname-propagation",
            "do-not-resolve",
            "pmi-port",
            "pmi-connect",
            "pmi-aggregate",
            "pmi-noaggregate",
        ],
        idle(0, "there is one way to do this"),
    ),
    (&["disable-x"], idle(0, "no X forwarding is asked for")),
    (
        &["cleanup", "noconf"],
        idle(0, "mpiexec keeps no files of its own"),
    ),
    (
        &[
            "debug-daemons",
            "debug-devel",
            "debug-daemons-file",
            "fwd-environment",
            "no-aggregate-help",
            "enable-prte-prefix-by-default",
            "exitinfo",
            "leave-session-attached",
            "show-progress",
            "use-regexp",
            "novm",
            "no-ready-msg",
        ],
        idle(0, "there are no daemons"),
    ),
    // Hosts and placement.
    (
        &[
            "rankfile",
            "rf",
            "rankmap",
            "slot-list",
            "loadbalance",
            "num-boards",
            "num-sockets",
            "num-cores",
            "stride",
            "cartofile",
            "cf",
        ],
        Instead(
            "ranks are placed by -hosts a:2,b, a host file, -ppn, --map-by and -bind-to user:0,1",
        ),
    ),
    (
        &["nolocal", "1", "skip-launch-node"],
        Instead("name the other hosts with -hosts"),
    ),
    (
        &[
            "nodelist",
            "w",
            "hosts-group",
            "machines",
            "machinelist",
            "add-host",
        ],
        Instead("name the hosts with -hosts a:2,b"),
    ),
    (
        &["add-hostfile"],
        Instead("name all hosts in one file: -hostfile FILE"),
    ),
    (
        &["nodes", "relative"],
        Instead("name the hosts with -hosts a,b, or start mpiexec within the batch job"),
    ),
    (
        &["order-nodes"],
        Instead("name the hosts in the order that is wanted: -hosts a,b"),
    ),
    (
        &["d"],
        Instead("--cpus-per-rank N says how many CPUs each rank has; -v prints what mpiexec does"),
    ),
    (
        &[
            "binding",
            "pin",
            "cc",
            "S",
            "ss",
            "aff",
            "byboard",
            "bind-to-board",
            "cpus-per-socket",
            "sockets-per-node",
            "cores-per-socket",
            "cpu-bind",
            "cpu_bind",
        ],
        Instead(
            "--bind-to core, numa, socket or none, or -bind-to user:0,1; --map-by ppr:N:socket says how many ranks each has",
        ),
    ),
    (
        &["distribution", "m"],
        Instead("--map-by node deals ranks out to hosts, --map-by socket to sockets"),
    ),
    (
        &["hint", "threads-per-core"],
        Instead("--bind-to core gives each rank whole cores, --bind-to hwthread single threads"),
    ),
    (
        &["membind", "mem-bind", "mem_bind"],
        Instead(
            "start numactl in the program's place: mpiexec -n 4 numactl --localalloc ./program",
        ),
    ),
    (
        &[
            "gpus-per-proc",
            "gpus-per-task",
            "gpu-bind",
            "gpu-support",
            "gpus",
        ],
        Instead(
            "start a script that sets CUDA_VISIBLE_DEVICES by MPI_LOCALRANKID in the program's place",
        ),
    ),
    // What is printed, and output.
    (
        &["info", "version-info"],
        Instead("--version, and weft info for the settings and networks"),
    ),
    (
        &["prot", "display-comm", "profile"],
        Instead("weft info tells the networks, and --trace every packet"),
    ),
    (
        &[
            "outfile-pattern",
            "errfile-pattern",
            "output-filename",
            "xml",
            "xml-file",
            "error",
            "o",
            "e",
        ],
        Instead("--output-dir DIR writes each rank's output to a file"),
    ),
    (
        &[
            "prepend-pattern",
            "timestamp-output",
            "prepend-timestamp",
            "ordered-output",
            "line-buffer",
        ],
        Instead("-l begins each line of output with its rank, and lines are never mixed"),
    ),
    (
        &["input", "i", "pty"],
        Instead(
            "mpiexec reads its own standard input: mpiexec ... < FILE; --stdin says who gets it",
        ),
    ),
    (
        &["report-pid", "report-uri", "output-proctable"],
        Instead("-v prints each rank's process"),
    ),
    (
        &["index-argv-by-rank"],
        Instead("each rank finds its number in PMI_RANK"),
    ),
    // Environment and files.
    (
        &["genvexcl", "genvuser", "envuser", "envexcl", "unset-env"],
        Instead("-genvlist names the variables that ranks inherit"),
    ),
    (
        &["append-env", "append-envar", "prepend-envar", "prepend-env"],
        Instead("-x NAME=VALUE sets a variable; the shell can join values"),
    ),
    (
        &["preload-files"],
        Instead("files are read where they lie: use a common file system"),
    ),
    (&["set-cwd-to-session-dir", "D"], Instead("-wdir DIR")),
    (
        &["umask"],
        Instead("ranks have mpiexec's: umask 022 before it"),
    ),
    (
        &["config", "multi-prog", "p4pg"],
        Instead("-configfile FILE holds programs with their options, -file FILE options"),
    ),
    (
        &["memory-alloc-kinds"],
        Instead("leave it out: the info key mpi_memory_alloc_kinds asks for kinds"),
    ),
    (
        &["ilp64"],
        Instead("leave it out: the program's own compiler options decide on the size of integers"),
    ),
    // Networks and how hosts are reached.
    (
        &[
            "rdma",
            "tcp",
            "TCP",
            "IBV",
            "MX",
            "TMI",
            "PSM2",
            "pami_noib",
            "RDMA",
            "ib",
            "IB",
            "dapl",
            "DAPL",
            "ofi",
            "OFI",
            "tmi",
            "psm",
            "psm2",
            "mx",
        ],
        Instead("--transport auto|shm|tcp|rdma chooses what carries messages"),
    ),
    (
        &[
            "rsh",
            "ifhn",
            "sg",
            "legacy",
            "fastssh",
            "enable-x",
            "launch-agent",
            "bootstrap-exec-args",
        ],
        Instead("-launcher-exec PROGRAM reaches hosts, with the words of HYDRA_LAUNCH_EXTRA_ARGS"),
    ),
    (
        &[
            "nameserver",
            "ompi-server",
            "hnp",
            "pubsub-server",
            "keepalive",
            "set-sid",
            "singleton",
            "leave_pg",
            "dpm",
            "dvm",
            "system-server",
            "report-events",
        ],
        Instead("mpiexec uses no server: leave it out"),
    ),
    // Failures.
    (
        &["continuous", "ecfn", "runtime-options", "no-kill"],
        Instead("--enable-recovery lets a job go on when one of its ranks dies"),
    ),
    (
        &["max-restarts"],
        Instead("leave it out: a rank that has died is not started again"),
    ),
    (
        &["report-child-jobs-separately"],
        Instead(
            "leave it out: the exit code is that of the first rank that fails, whichever job it is of",
        ),
    ),
    (
        &["kill-on-bad-exit", "K"],
        Instead("leave it out: a job ends when one of its ranks fails"),
    ),
    (
        &[
            "ckpoint",
            "ckpoint-num",
            "ckpointlib",
            "ckpoint-prefix",
            "ckpoint-interval",
        ],
        Instead("leave it out: programs write their own checkpoints"),
    ),
    // Tools in the program's place.
    (
        &[
            "gdb",
            "tva",
            "tvsu",
            "gdba",
            "gdb-ia",
            "gdb-args",
            "idb",
            "debug",
            "debugger",
            "tv",
            "stop-on-exec",
            "stop-in-init",
            "stop-in-app",
        ],
        Instead("start the debugger in the program's place: mpiexec -n 4 gdb --args ./program"),
    ),
    (
        &["xterm"],
        Instead("start the terminal in the program's place: mpiexec -n 4 xterm -e ./program"),
    ),
    (
        &[
            "gtool",
            "trace-pt2pt",
            "logs",
            "gtoolfile",
            "aps",
            "mps",
            "trace-collectives",
            "trace-imbalance",
        ],
        Instead("start the tool in the program's place: mpiexec -n 4 TOOL ./program"),
    ),
    (
        &["pset"],
        Instead("leave it out: the process sets are mpi://WORLD and mpi://SELF"),
    ),
    // srun's, within what mpiexec is started in.
    (
        &["mpi"],
        Instead("leave it out: mpiexec starts programs of this library alone"),
    ),
    (
        &[
            "overlap",
            "mem-per-cpu",
            "het-group",
            "wait",
            "W",
            "resv-ports",
            "propagate",
            "reservation",
            "J",
            "t",
            "p",
            "A",
            "immediate",
            "I",
            "task-prolog",
            "task-epilog",
            "prolog",
            "epilog",
            "contiguous",
            "cpu-freq",
            "gres",
            "switches",
            "tres-bind",
            "exclusive",
            "exact",
            "partition",
            "account",
            "time",
            "qos",
            "constraint",
            "mem",
            "jobid",
            "job-name",
        ],
        Instead("an option of srun, salloc and sbatch: mpiexec runs within what they have given"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_stands_once_and_has_its_line() {
        let mut seen = BTreeSet::new();
        for (names, meaning) in TABLE {
            assert!(names.iter().all(|name| seen.insert(name)), "{names:?}");
            let (Foreign::Idle { because: text, .. } | Foreign::Instead(text)) = meaning;
            assert!(!text.is_empty() && !text.contains('\n'), "{names:?}");
        }
    }
}
