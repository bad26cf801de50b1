//! `weft bench collectives --tune`: each collective by every algorithm that it has, beside what the library chooses.

mod figures;
mod layout;

use std::path::PathBuf;
use std::process::Command;

use clap::Parser;
use weft_collective::CHOICES;

use super::catalog::TUNE;
use super::job::{self, End};
use super::library::{Layout, Library};
use super::library_round::patience;
use super::options::Options;
use super::plan::{Failure, Plan, list};
use super::progress::Progress;
use super::record::Line;
use super::rounds;
use super::stats::binary;
use crate::installation::Installation;
use crate::machine::Machine;
pub use figures::{CHOSEN, Figures};
pub use layout::HostsLayout;

/// Prints the tables.
pub fn run(options: &Options) -> Result<(), String> {
    if options.names != ["collectives"] || options.json.is_some() || options.plot.is_some() {
        return Err("--tune goes with `collectives` alone, and prints tables".into());
    }
    let installation = Installation::find()?;
    let library = Library::weft(&installation)?;
    let plan = Plan::new(options, &TUNE, &[], &installation)?;
    if options.compile_only {
        let done = rounds::compile(&plan, &library);
        return done.map(drop).map_err(|failure| failure.explained(&TUNE));
    }
    let machine = Machine::read(installation.tree.as_deref()).line();
    println!("{machine}\n");
    let mut tuning = Tuning::begin(&plan, &library, &options.hosts, true)?;
    for layout in layouts(options, &plan)? {
        let mut figures = Figures::default();
        for round in 1..=plan.rounds {
            let what = format!("{layout}, round {round}/{}", plan.rounds);
            tuning.round(layout, &what, &mut figures)?;
        }
        let (hosts, ranks) = (layout.hosts, layout.ranks_a_host);
        match layout.is_one_host() {
            true => show(&figures, &plan, &format!("{ranks} ranks")),
            false => show(&figures, &plan, &format!("{hosts} hosts x {ranks} ranks")),
        }
    }
    Ok(())
}

/// Options of `weft bench collectives --tune`, for others who measure as it does.
pub fn options(words: &[String]) -> Result<Options, String> {
    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        options: Options,
    }
    let own = ["bench", "collectives", "--tune"].map(str::to_owned);
    let parsed = Arguments::try_parse_from(own.iter().chain(words));
    parsed
        .map(|parsed| parsed.options)
        .map_err(|error| error.to_string())
}

/// Those that are asked for, on the hosts that there are.
fn layouts(options: &Options, plan: &Plan) -> Result<Vec<HostsLayout>, String> {
    let hosts = options.hosts.len();
    if hosts == 1 {
        return Err("--hosts takes two hosts or more".into());
    }
    let layouts = match (options.layouts.is_empty(), hosts) {
        (true, 0) => vec![HostsLayout {
            hosts: 1,
            ranks_a_host: plan.ranks as usize,
        }],
        (true, hosts) => HostsLayout::up_to(hosts),
        (false, _) => options.layouts.clone(),
    };
    for layout in &layouts {
        if layout.hosts > hosts.max(1) {
            return Err(format!(
                "--layouts {layout}: there are {} hosts",
                hosts.max(1)
            ));
        }
    }
    Ok(layouts)
}

fn show(figures: &Figures, plan: &Plan, ranks: &str) {
    for operation in &figures.operations {
        println!("{}", operation.render(&plan.points, ranks));
    }
}

/// What `collective-tune` is to leave out: what the library chooses, if that is not asked for, and algorithms that
/// cannot run among ranks so placed, in whose place another would.
fn skips(layout: HostsLayout, measures_chosen: bool) -> String {
    let (placement, sharing) = layout.measured();
    let mut skips = Vec::new();
    for choice in &CHOICES {
        if !measures_chosen {
            skips.push(format!("{}/{CHOSEN}", choice.operation.replace('_', "-")));
        }
        let run = choice.possible(placement, sharing);
        for (number, name) in choice.algorithms().into_iter().enumerate() {
            if !run.contains(&number) {
                skips.push(format!("{}/{name}", choice.operation.replace('_', "-")));
            }
        }
    }
    skips.join(",")
}

/// The program that measures.
pub struct Tuning<'a> {
    plan: &'a Plan<'a>,
    library: &'a Library,
    hosts: &'a [String],
    program: PathBuf,
    /// What the library chooses, beside the algorithms.
    measures_chosen: bool,
    progress: Progress,
}

impl<'a> Tuning<'a> {
    pub fn begin(
        plan: &'a Plan<'a>,
        library: &'a Library,
        hosts: &'a [String],
        measures_chosen: bool,
    ) -> Result<Tuning<'a>, String> {
        let mut progress = Progress::new(false);
        progress.show("compiling collective-tune");
        let compiled = rounds::compile(plan, library);
        progress.clear();
        Ok(Tuning {
            plan,
            library,
            hosts,
            program: compiled.map_err(|failure| failure.explained(&TUNE))?,
            measures_chosen,
            progress,
        })
    }

    /// One more round, on one host or on several.
    pub fn round(
        &mut self,
        layout: HostsLayout,
        what: &str,
        figures: &mut Figures,
    ) -> Result<(), String> {
        let ranks = layout.ranks_a_host;
        let mut command = match layout.is_one_host() {
            true => self
                .library
                .launcher(self.on_one_host(ranks), &self.program),
            false => {
                let hosts = &self.hosts[..layout.hosts];
                self.library.launcher_on(hosts, ranks, &self.program)
            }
        };
        command.args(["--sizes", &list(&self.plan.points)]);
        command.args(["--seconds", &self.plan.seconds.to_string()]);
        command.args(["--skip", &skips(layout, self.measures_chosen)]);
        let done = self.run(command, what, figures);
        self.progress.clear();
        done.map_err(|failure| failure.explained(&TUNE))
    }

    fn on_one_host(&self, ranks: usize) -> Layout<'_> {
        let ranks = ranks as u64;
        Layout {
            ranks,
            pin: self.plan.pin.resolve(ranks, self.plan.cores, false),
            cores: self.plan.cores,
            hosts: self.plan.hosts,
        }
    }

    /// One run of the program.
    fn run(&mut self, command: Command, what: &str, figures: &mut Figures) -> Result<(), Failure> {
        let (plan, progress) = (self.plan, &mut self.progress);
        let outcome = job::run(command, patience(plan.limit_seconds), |line| {
            if let Some(Line::Point {
                series, x, median, ..
            }) = Line::parse(line)
            {
                progress.show(&format!("{what} {series}, {} bytes", binary(x)));
                figures.add(&plan.points, &series, x, median);
            }
        })?;
        match outcome.end {
            End::Interrupted => Err(Failure::Interrupted),
            End::Exited(status) if status.success() => Ok(()),
            End::Exited(status) => {
                Err(Failure::Message(format!("{status}\n{}", outcome.complaint)))
            }
            End::Silent => Err(Failure::Message(format!(
                "nothing came for {} s; it was stopped",
                plan.limit_seconds
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_measure_something_else_is_left_out() {
        let skipped = |layout: &str| {
            let all = skips(layout.parse().unwrap(), true);
            all.split(',').map(str::to_string).collect::<Vec<_>>()
        };
        let (between, here) = (skipped("2x2"), skipped("1x4"));
        for (series, on_one_host, on_several) in [
            ("bcast/shared", true, false),
            ("bcast/linear", true, true),
            ("reduce-scatter/direct", true, false),
            ("reduce-scatter/hierarchical_split", false, true),
        ] {
            assert_eq!(
                !here.iter().any(|one| one == series),
                on_one_host,
                "{series}"
            );
            assert_eq!(
                !between.iter().any(|one| one == series),
                on_several,
                "{series}"
            );
        }
    }
}
