use super::*;
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

fn refusal(text: &str) -> String {
    match parse(words(text)) {
        Err(Usage(problem)) => problem,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_program_and_its_arguments_end_the_options() {
    let job = job("-n 3 ./a -n 5 --help");
    assert_eq!(job.size(), 3);
    assert_eq!(job.applications[0].program, "./a");
    assert_eq!(job.applications[0].arguments, ["-n", "5", "--help"]);
}

#[test]
fn one_rank_is_the_default_and_two_dashes_are_as_good_as_one() {
    assert_eq!(job("a").size(), 1);
    assert_eq!(job("--np 4 a").size(), 4);
    assert_eq!(job("--np=4 a").size(), 4);
    assert_eq!(job("-n 2 -- -odd").applications[0].program, "-odd");
}

#[test]
fn sections_have_their_own_options_and_share_the_jobs() {
    let job = job("-genv G 1 -n 2 -env A 1 -wdir /tmp a x : -x B=2=3 -x HOME -n 3 -l b");
    assert_eq!(job.size(), 5);
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
        ("-n 99999999 a", "more than"),
        ("--nope a", "unknown option --nope"),
        ("-env A=1 x a", "cannot name"),
        ("-env A", "value after"),
        ("-x =1 a", "cannot name"),
        ("-host elsewhere a", "this machine only"),
        ("-host , a", "this machine only"),
        ("-arch vax a", "-arch vax"),
        ("-soft 1,x a", "-soft needs"),
        ("--bind-to socket a", "--bind-to needs"),
        ("--timeout 0 a", "--timeout needs"),
        ("--timeout inf a", "--timeout needs"),
        ("--stdin 2 -n 2 a", "only ranks 0 to 1"),
        ("--stdin some a", "--stdin needs"),
        ("-l --output-dir o a", "exclude"),
        ("--verbose=1 a", "takes no value"),
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
