use super::*;
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
    assert!(job.prefix_output);
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
    assert_eq!(job.bind, Bind::None);
    assert_eq!(job.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(job.stdin, Stdin::Rank(1));
    assert!(job.report_bindings && job.verbose && job.dry_run);
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
    assert!(job.prefix_output && job.inherit == Inherit::All);
    assert_eq!(job.applications[0].ranks, Some(2));
    assert_eq!(super::parse(words("-genvlist A,B a")).map(|_| ()), Ok(()));
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
        ("-env A=1 x a", "cannot name"),
        ("-env A", "value after"),
        ("-x =1 a", "cannot name"),
        ("-host , a", "-host ,: `` is neither"),
        ("-hosts a:0 a", "`a:0`"),
        ("-H -oProxyCommand=x a", "`-oProxyCommand=x`"),
        ("-f /nonexistent a", "-f: cannot read"),
        ("-machinefile /dev/null a", "names no host"),
        ("-ppn 0 a", "-ppn needs"),
        ("--map-by socket a", "--map-by needs"),
        ("--map-by ppr:x:node a", "--map-by needs"),
        ("--map-by node:pe=2 a", "--map-by needs"),
        ("-launcher rsh a", "-launcher needs"),
        ("--rankfile x a", "-ppn"),
        ("--mca x", "--mca needs"),
        ("-arch vax a", "-arch vax"),
        ("-soft 1,x a", "-soft needs"),
        ("--bind-to socket a", "--bind-to needs"),
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

/// The text is read as MPI writes its options; each of them is described.
#[test]
fn help_names_every_option() {
    for option in [
        "-n",
        "-np",
        "-wdir",
        "-path",
        "-env",
        "-x",
        "-host",
        "-hosts",
        "-hostfile",
        "-f",
        "-ppn",
        "-N",
        "--map-by",
        "-launcher",
        "-launcher-exec",
        "--launch-timeout",
        "--host-timeout",
        "--interface",
        "-genvlist",
        "-genvnone",
        "--nooversubscribe",
        "-arch",
        "-soft",
        "-file",
        "-configfile",
        "-genv",
        "--bind-to",
        "--report-bindings",
        "--timeout",
        "--stdin",
        "-l",
        "--prefix-output",
        "--trace[=FILE]",
        "--transport",
        "--adapters",
        "--endpoints",
        "--receive-pools",
        "--output-dir",
        "--dry-run",
        "-v",
        "--verbose",
        "-h",
        "--help",
        "-V",
        "--version",
    ] {
        let described = HELP.lines().any(|line| {
            line.starts_with("  -") && line.split([' ', ',']).any(|word| word == option)
        });
        assert!(described, "{option}");
    }
}
