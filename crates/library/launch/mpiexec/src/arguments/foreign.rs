//! Options of other launchers that there is nothing to do for here. `docs/coming-from.md` has them too.

/// What becomes of such an option.
pub enum Foreign {
    /// It and this many values are taken and change nothing.
    Idle { values: usize },
    /// It is refused, and this says what to write instead.
    Instead(&'static str),
}

/// `None` for an option that no launcher known here has.
pub fn meaning(name: &str) -> Option<Foreign> {
    let (_, meaning) = TABLE.iter().find(|(names, _)| names.contains(&name))?;
    Some(match meaning {
        Ok(values) => Foreign::Idle { values: *values },
        Err(advice) => Foreign::Instead(advice),
    })
}

type Row = (&'static [&'static str], Result<usize, &'static str>);

/// Names without dashes; how many values follow, or what to do instead.
const TABLE: &[Row] = &[
    // So here in any case.
    (
        &[
            "oversubscribe",
            "allow-run-as-root",
            "q",
            "quiet",
            "disable-recovery",
        ],
        Ok(0),
    ),
    (
        &[
            "disable-hostname-propagation",
            "print-all-exitcodes",
            "pmi-port",
        ],
        Ok(0),
    ),
    // Parameters of another library's parts.
    (
        &[
            "mca", "gmca", "omca", "pmixmca", "prtemca", "gpmixmca", "gprtemca",
        ],
        Ok(2),
    ),
    (&["rmk", "topolib", "usize", "personality"], Ok(1)),
    // The same path as here is used on every host.
    (&["prefix"], Ok(1)),
    (
        &["rank-by"],
        Err("ranks are numbered as they are placed; --map-by node deals them out in turn"),
    ),
    (
        &["rankfile", "rf"],
        Err("ranks are placed by -hosts a:2,b, a host file, -ppn and --map-by"),
    ),
    (
        &[
            "display-map",
            "display-devel-map",
            "display-allocation",
            "display",
            "print-rank-map",
            "do-not-launch",
            "info",
        ],
        Err("--dry-run prints what would start where"),
    ),
    (
        &[
            "outfile-pattern",
            "errfile-pattern",
            "output-filename",
            "output",
            "xml",
        ],
        Err("--output-dir DIR writes each rank's output to a file"),
    ),
    (
        &["prepend-pattern", "timestamp-output"],
        Err("-l begins each line of output with its rank"),
    ),
    (
        &[
            "cpus-per-proc",
            "cpus-per-rank",
            "cpu-set",
            "cpu-list",
            "binding",
            "pin",
        ],
        Err("--bind-to core gives each rank an equal share of its host's cores"),
    ),
    (
        &["genvexcl", "envexcl"],
        Err("-genvlist names the variables that ranks inherit"),
    ),
    (
        &["disable-auto-cleanup"],
        Err("a job ends when one of its ranks fails"),
    ),
    (
        &["gdb", "gdba", "debug", "tv"],
        Err("start the debugger in the program's place: mpiexec -n 4 gdb --args ./program"),
    ),
    (&["nolocal"], Err("name the other hosts with -hosts")),
];
