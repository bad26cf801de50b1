use super::*;
use crate::binding::{Binding, Object, RankBy, To};
use crate::hosts::{Host, Order};
use std::time::Duration;

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}

fn job(text: &str) -> Job {
    match parse(words(text)) {
        Ok(Command::Run(job)) => *job,
        other => panic!("{text}: {other:?}"),
    }
}

fn ranks(text: &str) -> Vec<Option<u32>> {
    let job = job(text);
    job.applications.iter().map(|app| app.ranks).collect()
}

fn refusal(text: &str) -> String {
    match parse(words(text)) {
        Err(Usage(problem)) => problem,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_program_and_its_arguments_end_the_options() {
    let job = job("-n 3 ./a -n 5 --help");
    assert_eq!(job.applications[0].ranks, Some(3));
    assert_eq!(job.applications[0].program, "./a");
    assert_eq!(job.applications[0].arguments, ["-n", "5", "--help"]);
}

#[test]
fn two_dashes_are_as_good_as_one() {
    assert_eq!(ranks("a"), [None]);
    assert_eq!(ranks("--np 4 a"), [Some(4)]);
    assert_eq!(ranks("--np=4 a : b"), [Some(4), None]);
    assert_eq!(job("-n 2 -- -odd").applications[0].program, "-odd");
}

#[test]
fn sections_have_their_own_options_and_share_the_jobs() {
    let job = job("-genv G 1 -n 2 -env A 1 -wdir /tmp a x : -x B=2=3 -x HOME -n 3 -l b");
    assert_eq!(job.applications[0].ranks, Some(2));
    assert_eq!(job.applications[1].ranks, Some(3));
    assert!(job.options.prefix_output);
    assert_eq!(job.environment, [("G".into(), "1".into())]);
    assert_eq!(job.applications[0].environment, [("A".into(), "1".into())]);
    assert_eq!(
        job.applications[0].directory.as_deref(),
        Some("/tmp".as_ref())
    );
    assert_eq!(
        job.applications[1].environment,
        [("B".into(), "2=3".into())]
    );
    assert_eq!(job.applications[1].directory, None);
}

#[test]
fn options_of_the_job() {
    let job = job(
        "--bind-to none --report-bindings --timeout 1.5 --stdin 1 -v --dry-run --output-dir o --oversubscribe -n 2 -soft 1,2:8:2 -arch x86_64 -host localhost:4,127.0.0.1,::1 a",
    );
    assert_eq!(job.options.binding.to, To::None);
    assert_eq!(job.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(job.options.stdin, Stdin::Rank(1));
    assert!(job.options.report_bindings && job.options.verbose && job.dry_run);
    assert_eq!(job.output_directory.as_deref(), Some("o".as_ref()));
    assert_eq!(super::parse(words("--stdin all a")).map(|_| ()), Ok(()));
}

/// A word behind `--trace` is the program.
#[test]
fn a_trace_is_a_variable_of_the_ranks() {
    for (options, value) in [
        ("--trace -n 2", "-"),
        ("--trace=t.%r -n 2", "t.%r"),
        ("-trace", "-"),
        ("--trace=t", "t"),
    ] {
        let job = job(&format!("{options} a"));
        assert_eq!(job.environment, [("WEFT_TRACE".into(), value.into())]);
    }
}

#[test]
fn a_file_of_prices_is_one_wherever_rank_0_starts() {
    let here = std::env::current_dir().unwrap();
    for (named, told) in [
        ("built-in", "built-in".into()),
        ("/etc/p", "/etc/p".into()),
        ("a/p", here.join("a/p").into_os_string()),
    ] {
        let job = job(&format!("--prices {named} a"));
        assert_eq!(job.environment, [("WEFT_PRICES".into(), told)]);
    }
    assert!(refusal("--prices").contains("needs a file of prices"));
}

#[test]
fn options_about_networks() {
    let job = job(
        "--transport rdma --adapters mlx5_0,mlx5_1:2 --endpoints=shared-dynamic --receive-pools S,2k,64:X,16k,8 a",
    );
    let expected = [
        ("WEFT_TRANSPORT".into(), "rdma".into()),
        ("WEFT_ADAPTERS".into(), "mlx5_0,mlx5_1:2".into()),
        ("WEFT_ENDPOINTS".into(), "shared-dynamic".into()),
        ("WEFT_RECEIVE_POOLS".into(), "S,2k,64:X,16k,8".into()),
    ];
    assert_eq!(job.environment, expected);
    for wrong in [
        "--transport ib a",
        "--endpoints mpi-threads a",
        "--transport",
    ] {
        let error = refusal(wrong);
        assert!(error.contains("needs"), "{error}");
    }
    let error = refusal("--receive-pools S,2k,64:S,16k a");
    assert!(
        error.ends_with("\n  S,2k,64:S,16k\n               ^"),
        "{error}"
    );
}

#[test]
fn options_about_hosts() {
    let job = job(
        "-hosts a:2,b -hosts c -ppn 3 --map-by node:OVERSUBSCRIBE --nooversubscribe -launcher slurm -launcher-exec p --launch-timeout 2 --host-timeout 3 --interface eth1 -host x,y a",
    );
    let name =
        |hosts: &[Host]| -> Vec<String> { hosts.iter().map(|host| host.name.clone()).collect() };
    assert_eq!(name(job.hosts.listed.as_ref().unwrap()), ["a", "b", "c"]);
    assert_eq!(
        name(job.applications[0].hosts.as_ref().unwrap()),
        ["x", "y"]
    );
    assert_eq!(job.hosts.per_host, Some(3));
    assert_eq!(job.hosts.order, Order::Nodes);
    assert!(job.hosts.slots_are_limits);
    assert_eq!(job.hosts.launcher, Some(Launcher::Slurm));
    assert_eq!(job.hosts.launcher_program, Some("p".into()));
    assert_eq!(job.hosts.launch_timeout, Duration::from_secs(2));
    assert_eq!(job.hosts.host_timeout, Duration::from_secs(3));
    assert_eq!(job.environment, [("WEFT_INTERFACE".into(), "eth1".into())]);
}

#[test]
fn options_of_other_launchers_change_nothing() {
    let job = job(
        "--mca btl tcp,self --allow-run-as-root -genvall --tag-output -disable-hostname-propagation -n 2 a",
    );
    assert!(job.options.prefix_output && job.inherit == Inherit::All);
    assert_eq!(job.applications[0].ranks, Some(2));
    assert_eq!(super::parse(words("-genvlist A,B a")).map(|_| ()), Ok(()));
}

#[test]
fn options_about_placement() {
    let binding = |text: &str| job(&format!("{text} a")).options.binding;
    let to = |object, count| Binding {
        to: To::Objects(object, count),
        ..Binding::default()
    };
    let map = |object| Binding {
        map: Some(object),
        ..Binding::default()
    };
    let cpus = |count| Binding {
        cpus_per_rank: Some(count),
        ..Binding::default()
    };
    for (text, expected) in [
        (
            "--bind-to none",
            Binding {
                to: To::None,
                ..Binding::default()
            },
        ),
        ("--bind-to core:overload-allowed", to(Object::Core, 1)),
        ("-bind-to core:2", to(Object::Core, 2)),
        ("--bind-to L3CACHE:if-supported", to(Object::L3Cache, 1)),
        ("--bind-to package", to(Object::Package, 1)),
        ("--bind-to-socket", to(Object::Package, 1)),
        (
            "-bind-to rr",
            Binding {
                to: To::Each,
                ..Binding::default()
            },
        ),
        (
            "-bind-to user:0+2,1-3",
            Binding {
                to: To::Lists(vec![vec![0, 2], vec![1, 2, 3]]),
                ..Binding::default()
            },
        ),
        ("--map-by socket", map(Object::Package)),
        ("--map-by numa:oversubscribe", map(Object::Numa)),
        ("--bycore", map(Object::Core)),
        ("--map-by slot:PE=4", cpus(4)),
        ("--map-by :pe=4", cpus(4)),
        ("--map-by node:pe=4", cpus(4)),
        ("--cpus-per-proc 4", cpus(4)),
        (
            "--map-by socket:PE=2:span",
            Binding {
                cpus_per_rank: Some(2),
                spans_hosts: true,
                ..map(Object::Package)
            },
        ),
        (
            "--map-by core:hwtcpus",
            Binding {
                counts_threads: true,
                ..map(Object::Core)
            },
        ),
        (
            "--map-by ppr:2:socket",
            Binding {
                per_object: Some(2),
                ..map(Object::Package)
            },
        ),
        (
            "-npersocket 2",
            Binding {
                per_object: Some(2),
                ..map(Object::Package)
            },
        ),
        (
            "--ppr 2:l2cache",
            Binding {
                per_object: Some(2),
                ..map(Object::L2Cache)
            },
        ),
        (
            "--map-by pe-list=0,2-3:ordered",
            Binding {
                to: To::Lists(vec![vec![0], vec![2], vec![3]]),
                ..Binding::default()
            },
        ),
        (
            "--map-by pe-list=0,2",
            Binding {
                to: To::Lists(vec![vec![0, 2]]),
                ..Binding::default()
            },
        ),
        (
            "--rank-by core",
            Binding {
                rank_by: Some(RankBy::Fill),
                ..Binding::default()
            },
        ),
        (
            "--rank-by socket",
            Binding {
                rank_by: Some(RankBy::Objects(Object::Package)),
                ..Binding::default()
            },
        ),
        (
            "--cpu-set 0-1,3",
            Binding {
                within: Some(vec![0, 1, 3]),
                ..Binding::default()
            },
        ),
        (
            "--use-hwthread-cpus",
            Binding {
                counts_threads: true,
                ..Binding::default()
            },
        ),
    ] {
        assert_eq!(binding(text), expected, "{text}");
    }
    assert_eq!(job("--map-by ppr:3:node a").hosts.per_host, Some(3));
    assert_eq!(job("--map-by node:PE=2 a").hosts.order, Order::Nodes);
    let shown = job("--display map,topo=x,bind --display-allocation a");
    assert!(
        shown.show.map
            && shown.show.topology
            && shown.show.allocation
            && shown.options.report_bindings
    );
    let output = job("--output tag,merge a");
    assert!(output.options.prefix_output && output.options.merge_output);
}

/// Options as they stand in job scripts for MPICH, Intel MPI, Open MPI, MVAPICH and srun.
#[test]
fn options_of_job_scripts_are_taken_or_refused_with_what_to_write() {
    for text in [
        "--merge-stderr-to-stdout",
        "-c 2",
        "--display-topo",
        "--preload-binary",
        "--forward-signals SIGUSR1,15",
        "--get-stack-traces --timeout 5",
        "-silent-abort",
        "-check_mpi",
        "-s all",
        "-rr",
        "-grr 2",
        "-perhost 2",
        "-print-rank-map",
        "-prepend-rank",
        "-bootstrap ssh",
        "-iface eth0",
        "-genv I_MPI_DEBUG 5",
        "-tune f",
        "--mca btl_base_verbose 10",
        "--display-map",
        "--display-allocation",
        "--nooversubscribe",
        "--oversubscribe",
        "--pernode",
        "--bynode",
        "--byslot",
        "--label",
        "--ntasks 2",
        "--ntasks-per-node 2",
        "--cpus-per-task 2",
        "--report-bindings",
        "--report-state-on-timeout",
        "-ssh",
        "-export-all",
        "--prefix /opt/x",
        "--spawn-timeout 5",
        "--set-env A=b",
        "--stream-buffering 0",
        "-cleanup",
        "-tmpdir /tmp",
        "-envall",
    ] {
        assert!(parse(words(&format!("{text} -n 2 a"))).is_ok(), "{text}");
    }
    assert_eq!(
        job("-genv A=1=2 -genv B 3 a").environment,
        [("A".into(), "1=2".into()), ("B".into(), "3".into())]
    );
    for (text, instead) in [
        ("-report-child-jobs-separately", "leave it out"),
        ("--debugger gdb", "gdb --args"),
        ("-gtool x", "TOOL ./program"),
        ("--rankfile f", "-bind-to user:0,1"),
        ("-binding pin=yes", "--bind-to core"),
        ("--cpu-bind=cores", "--bind-to core"),
        ("--nodes 2", "-hosts a,b"),
        ("--mpi=pmix", "leave it out"),
        ("-rsh", "-launcher-exec"),
        ("-ordered-output", "-l "),
        ("-rdma", "--transport"),
    ] {
        let problem = refusal(&format!("{text} -n 2 a"));
        assert!(
            problem.contains(instead) && !problem.contains('\n'),
            "{text}: {problem}"
        );
    }
    let notes = job("--mca btl self -silent-abort a").notes;
    assert!(
        notes.len() == 2 && notes[1].starts_with("-silent-abort changes nothing: "),
        "{notes:?}"
    );
}

#[test]
fn each_mistake_is_one_line_that_names_it() {
    for (text, named) in [
        ("", "no program"),
        ("-n 2", "no program"),
        ("-n 2 a :", "no program"),
        ("-n", "-n needs"),
        ("-n 0 a", "not `0`"),
        ("-n -1 a", "not `-1`"),
        ("-n two a", "not `two`"),
        ("--nope a", "unknown option --nope"),
        ("-env =1 a", "cannot name"),
        ("-env A", "value after"),
        ("-x =1 a", "cannot name"),
        ("-host , a", "-host ,: `` is neither"),
        ("-hosts a:0 a", "`a:0`"),
        ("-H -oProxyCommand=x a", "`-oProxyCommand=x`"),
        ("-f /nonexistent a", "-f: cannot read"),
        ("-machinefile /dev/null a", "names no host"),
        ("-ppn 0 a", "-ppn needs"),
        ("--map-by sockets a", "--map-by needs"),
        ("--map-by seq a", "-bind-to user:0,1"),
        ("--map-by socket:PE=0 a", "--map-by needs"),
        ("--map-by ppr:2:cube a", "--map-by needs"),
        ("-npersocket x a", "-npersocket needs"),
        ("--map-by ppr:x:node a", "--map-by needs"),
        ("-launcher rsh a", "-launcher needs"),
        ("--rankfile x a", "-ppn"),
        ("--mca x", "--mca needs"),
        ("-arch vax a", "-arch vax"),
        ("-soft 1,x a", "-soft needs"),
        ("--bind-to sockets a", "--bind-to needs"),
        ("--bind-to core:0 a", "--bind-to needs"),
        ("-bind-to user:0,x a", "-bind-to needs"),
        ("--bind-to socket --cpus-per-rank 2 a", "--bind-to core"),
        ("--bind-to core:3 --map-by slot:PE=2 a", "both 3 and 2"),
        ("-bind-to user:0 --cpus-per-rank 2 a", "list"),
        ("--rank-by x a", "--rank-by needs"),
        ("--cpu-set 3-1 a", "--cpu-set needs"),
        ("--display x a", "--display needs"),
        ("--output x a", "--output needs"),
        ("--output dir= a", "--output needs"),
        ("--forward-signals SIGUSR1,SIGUSR2 a", "SIGUSR2"),
        ("-n 4 -c 2 a", "--cpus-per-rank"),
        ("--set-env A a", "NAME=VALUE"),
        ("--app /nonexistent -n 2 a", "cannot read"),
        ("--timeout 0 a", "--timeout needs"),
        ("--timeout inf a", "--timeout needs"),
        ("--stdin some a", "--stdin needs"),
        ("-l --output-dir o a", "exclude"),
        ("--verbose=1 a", "takes no value"),
        ("--trace= a", "name of a file"),
        ("-configfile /nonexistent", "cannot read"),
        ("-file /nonexistent a", "cannot read"),
        ("--", "after `--`"),
    ] {
        let problem = refusal(text);
        assert!(
            problem.contains(named) && !problem.contains('\n'),
            "{text}: {problem}"
        );
    }
}

#[test]
fn help_and_version_stand_in_place_of_a_job() {
    assert!(matches!(parse(words("-n 2 --help")), Ok(Command::Help)));
    assert!(matches!(parse(words("-V")), Ok(Command::Version)));
}
