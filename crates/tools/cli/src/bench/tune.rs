//! `weft bench collectives --tune`: each collective by every algorithm that it has, beside what its table chooses; between hosts
//! also the rules of the table that follow.

mod figures;
mod layout;
mod rules;

use std::fs;
use std::process::Command;

use weft_collective::{CHOICES, Placement};

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

/// Prints the tables, and writes the rules if that is asked for.
pub fn run(options: &Options) -> Result<(), String> {
    if options.names != ["collectives"] || options.json || options.plot.is_some() {
        return Err("--tune goes with `collectives` alone, and prints tables".into());
    }
    let layouts = layouts(options)?;
    let installation =
        Installation::find().map_err(|e| format!("cannot find where this program is: {e}"))?;
    let library = Library::weft(&installation)?;
    let plan = Plan::new(options, &TUNE, &[], &installation)?;
    let machine = Machine::read(installation.tree.as_deref()).line();
    println!("{machine}\n");
    let mut bench = Tuning {
        plan: &plan,
        library: &library,
        hosts: &options.hosts,
        progress: Progress::new(false),
    };
    if options.hosts.is_empty() {
        let figures = bench.measured(None)?;
        show(&figures, &plan, &format!("{} ranks", plan.ranks));
        return Ok(());
    }
    let mut measured = Vec::new();
    for layout in layouts {
        let figures = bench.measured(Some(layout))?;
        let (hosts, ranks) = (layout.hosts, layout.ranks_a_host);
        show(&figures, &plan, &format!("{hosts} hosts x {ranks} ranks"));
        measured.push((layout, figures));
    }
    let Some(file) = &options.rules else {
        return Ok(());
    };
    let names: Vec<String> = measured
        .iter()
        .map(|(layout, _)| layout.to_string())
        .collect();
    let said = format!(
        "{machine}; medians of {} rounds; hosts x ranks on each: {}.",
        plan.rounds,
        names.join(", ")
    );
    let text = rules::file(&measured, &plan.points, &said);
    fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}

/// Those that are asked for, on the hosts that there are.
fn layouts(options: &Options) -> Result<Vec<HostsLayout>, String> {
    let hosts = options.hosts.len();
    if hosts == 1 {
        return Err("--hosts takes two hosts or more".into());
    }
    if let Some(layout) = options.layouts.iter().find(|layout| layout.hosts > hosts) {
        return Err(format!("--layouts {layout}: there are {hosts} hosts"));
    }
    Ok(match options.layouts.is_empty() {
        true => HostsLayout::up_to(hosts),
        false => options.layouts.clone(),
    })
}

fn show(figures: &Figures, plan: &Plan, ranks: &str) {
    for operation in &figures.operations {
        println!("{}", operation.render(&plan.points, ranks));
    }
}

/// What `collective-tune` is to leave out: algorithms that cannot run among ranks so placed, in whose place another would.
fn skips(placement: Option<Placement>) -> String {
    let mut skips = Vec::new();
    for choice in &CHOICES {
        let run: Vec<usize> = choice
            .rules_on(placement)
            .into_iter()
            .map(|(number, _)| number)
            .collect();
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
    fn measured(&mut self, layout: Option<HostsLayout>) -> Result<Figures, String> {
        let mut figures = Figures::default();
        let done = self.rounds(layout, &mut figures);
        self.progress.clear();
        done.map_err(|failure| failure.explained(&TUNE))?;
        Ok(figures)
    }

    fn rounds(
        &mut self,
        layout: Option<HostsLayout>,
        figures: &mut Figures,
    ) -> Result<(), Failure> {
        self.progress.show("compiling collective-tune");
        let program = rounds::compile(self.plan, self.library)?;
        for round in 0..self.plan.rounds {
            let mut command = match layout {
                None => self.library.launcher(self.on_one_host(), &program),
                Some(layout) => {
                    let hosts = &self.hosts[..layout.hosts];
                    self.library
                        .launcher_on(hosts, layout.ranks_a_host, &program)
                }
            };
            command.args(["--sizes", &list(&self.plan.points)]);
            command.args(["--seconds", &self.plan.seconds.to_string()]);
            command.args(["--skip", &skips(layout.map(HostsLayout::placement))]);
            let place = layout.map_or(String::new(), |layout| format!("{layout}, "));
            self.round(
                command,
                &format!("{place}round {}/{}", round + 1, self.plan.rounds),
                figures,
            )?;
        }
        Ok(())
    }

    fn on_one_host(&self) -> Layout<'_> {
        Layout {
            ranks: self.plan.ranks,
            pin: self
                .plan
                .pin
                .resolve(self.plan.ranks, self.plan.cores, false),
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
        let skipped = |placement| {
            let all = skips(placement);
            all.split(',').map(str::to_string).collect::<Vec<_>>()
        };
        let between: HostsLayout = "2x2".parse().unwrap();
        let between = skipped(Some(between.placement()));
        let here = skipped(None);
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
