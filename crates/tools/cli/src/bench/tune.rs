//! `weft bench collectives --tune`: each collective by every algorithm that it has, beside what the library chooses.

mod figures;
mod layout;

use std::process::Command;

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
use figures::Figures;
pub use layout::HostsLayout;

/// Prints the tables.
pub fn run(options: &Options) -> Result<(), String> {
    if options.names != ["collectives"] || options.json.is_some() || options.plot.is_some() {
        return Err("--tune goes with `collectives` alone, and prints tables".into());
    }
    let installation =
        Installation::find().map_err(|e| format!("cannot find where this program is: {e}"))?;
    let library = Library::weft(&installation)?;
    let plan = Plan::new(options, &TUNE, &[], &installation)?;
    if options.compile_only {
        let done = rounds::compile(&plan, &library);
        return done.map(drop).map_err(|failure| failure.explained(&TUNE));
    }
    let machine = Machine::read(installation.tree.as_deref()).line();
    println!("{machine}\n");
    let mut bench = Tuning {
        plan: &plan,
        library: &library,
        hosts: &options.hosts,
        progress: Progress::new(false),
    };
    for layout in layouts(options, &plan)? {
        let figures = bench.measured(layout)?;
        let (hosts, ranks) = (layout.hosts, layout.ranks_a_host);
        match layout.is_one_host() {
            true => show(&figures, &plan, &format!("{ranks} ranks")),
            false => show(&figures, &plan, &format!("{hosts} hosts x {ranks} ranks")),
        }
    }
    Ok(())
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

/// What `collective-tune` is to leave out: algorithms that cannot run among ranks so placed, in whose place another would.
fn skips(layout: HostsLayout) -> String {
    let (placement, sharing) = layout.measured();
    let mut skips = Vec::new();
    for choice in &CHOICES {
        let run = choice.possible(placement, sharing);
        for (number, name) in choice.algorithms().into_iter().enumerate() {
            if !run.contains(&number) {
                skips.push(format!("{}/{name}", choice.operation.replace('_', "-")));
            }
        }
    }
    skips.join(",")
}

struct Tuning<'a> {
    plan: &'a Plan<'a>,
    library: &'a Library,
    hosts: &'a [String],
    progress: Progress,
}

impl Tuning<'_> {
    /// The figures of all rounds on one host, or on several.
    fn measured(&mut self, layout: HostsLayout) -> Result<Figures, String> {
        let mut figures = Figures::default();
        let done = self.rounds(layout, &mut figures);
        self.progress.clear();
        done.map_err(|failure| failure.explained(&TUNE))?;
        Ok(figures)
    }

    fn rounds(&mut self, layout: HostsLayout, figures: &mut Figures) -> Result<(), Failure> {
        self.progress.show("compiling collective-tune");
        let program = rounds::compile(self.plan, self.library)?;
        for round in 0..self.plan.rounds {
            let ranks = layout.ranks_a_host;
            let mut command = match layout.is_one_host() {
                true => self.library.launcher(self.on_one_host(ranks), &program),
                false => {
                    let hosts = &self.hosts[..layout.hosts];
                    self.library.launcher_on(hosts, ranks, &program)
                }
            };
            command.args(["--sizes", &list(&self.plan.points)]);
            command.args(["--seconds", &self.plan.seconds.to_string()]);
            command.args(["--skip", &skips(layout)]);
            let what = format!("{layout}, round {}/{}", round + 1, self.plan.rounds);
            self.round(command, &what, figures)?;
        }
        Ok(())
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
    fn round(
        &mut self,
        command: Command,
        what: &str,
        figures: &mut Figures,
    ) -> Result<(), Failure> {
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
            let all = skips(layout.parse().unwrap());
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
