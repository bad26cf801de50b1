//! An agent from its first breath to its last: the ranks of one host, on behalf of mpiexec on another.

use super::ending::Phase;
use super::leftovers::end_leftovers;
use super::output::Output;
use super::signals;
use super::start::Base;
use super::supervisor::Supervisor;
use super::upward::Upward;
use weft_kernel::{Interest, Poller};

use crate::agent::{
    self, ALL_HOSTS, Children, Decoder, Down, Failure, Link, Origin, Settings, Start, Up,
    WINDOW_BYTES,
};
use crate::environment::{self, JOB_VARIABLE};
use crate::plan::Plan;
use crate::program::Unusable;
use crate::source::Source;
use crate::sys::{self, SignalReader, Watchdog};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// For the one who has started an agent to say what it is for.
const ORDERS_TIME: Duration = Duration::from_secs(60);
/// Between two signs of life for the watchdog.
const BEAT_TIME: Duration = Duration::from_millis(500);
/// For agents below to end, once the job is over.
const FAREWELL_TIME: Duration = Duration::from_secs(3);

/// Runs the ranks that mpiexec tells of on standard input. An error is one of this process alone: whatever concerns the
/// job goes to mpiexec.
pub fn serve() -> Result<(), String> {
    let failed = |error| format!("mpiexec's agent: {}", sys::explained(error));
    let signals = SignalReader::new(&signals::READ).map_err(failed)?;
    let epoll = Poller::new().map_err(failed)?;
    let input = io::stdin().as_fd().try_clone_to_owned().map_err(failed)?;
    let output = io::stdout().as_fd().try_clone_to_owned().map_err(failed)?;
    let sources = (Source::Parent, Source::ToParent);
    let mut link = Link::new(input, output, sources, Decoder::default(), &epoll).map_err(failed)?;
    // Says who this is even to one who speaks another version.
    link.write(&epoll);
    let Some(start) = await_orders(&mut link, &epoll).map_err(failed)? else {
        return Ok(());
    };
    let job = start.orders.job_on(start.part.host);
    let job_list = environment::within(&start.orders.job_list, &job);
    let plan =
        enter_directory(&start).and_then(|()| Plan::new(&start.orders, job_list, &start.part.runs));
    let (plan, problem) = match plan {
        Ok(plan) => (plan, None),
        Err(unusable) => (Plan::none(), Some(unusable)),
    };
    epoll
        .add(&signals, Source::Signals.token(), Interest::Reading)
        .map_err(failed)?;
    let silence = Some(start.host_timeout);
    let watchdog = Watchdog::start(JOB_VARIABLE, &job, silence).map_err(failed)?;
    let settings = Settings {
        orders: &start.orders,
        way: &start.way,
        launch_timeout: start.launch_timeout,
        host_timeout: start.host_timeout,
    };
    let children = Children::new(&settings);
    let output = Output::forwarded(start.orders.options.prefix_output, WINDOW_BYTES);
    let base = Base { epoll, signals };
    let mut supervisor = Supervisor::new(&start.orders, &plan, base, output, None)?;
    supervisor.upward = Some(Upward::new(
        link,
        children,
        start.part.host,
        start.host_timeout,
    ));
    supervisor.begin(&settings, &start, problem);
    let result = supervisor.work_until_over(watchdog);
    result.map_err(failed)
}

/// The first frame; `None` when there is none to come.
fn await_orders(link: &mut Link, epoll: &Poller) -> io::Result<Option<Start>> {
    let until = Instant::now() + ORDERS_TIME;
    while Instant::now() < until {
        let arrived = link.read();
        match link.next() {
            Ok(Some(frame)) => {
                return Ok(match agent::decode(&frame.body) {
                    Some(Down::Start(start)) => Some(*start),
                    _ => None,
                });
            }
            Err(_) => return Ok(None),
            Ok(None) if arrived == agent::Arrived::End => return Ok(None),
            Ok(None) => drop(epoll.ready_within(Some(until - Instant::now()))),
        }
        link.write(epoll);
    }
    Ok(None)
}

/// Ranks start in mpiexec's directory, unless each has an absolute one of its own.
fn enter_directory(start: &Start) -> Result<(), Unusable> {
    let directory = Path::new(&start.orders.directory);
    let is_absolute = |directory: &Option<_>| {
        directory
            .as_ref()
            .is_some_and(|own| Path::new(own).is_absolute())
    };
    let unneeded = start
        .orders
        .applications
        .iter()
        .all(|app| is_absolute(&app.directory));
    match std::env::set_current_dir(directory) {
        Err(error) if !unneeded => Err(Unusable {
            problem: format!(
                "mpiexec's working directory {} cannot be used there: {error} (-wdir names another)",
                directory.display()
            ),
            exit_code: 1,
        }),
        _ => Ok(()),
    }
}

impl Supervisor<'_> {
    fn begin(&mut self, settings: &Settings, start: &Start, problem: Option<Unusable>) {
        let name = &start.part.name;
        if let Some(upward) = &mut self.upward
            && let Err(text) = upward
                .children
                .start_all(settings, &start.below, &self.epoll)
        {
            self.report(Failure {
                code: 1,
                text,
                origin: Origin::Outside,
            });
        }
        if let Some(unusable) = problem {
            let text = format!("host {name}: {}", unusable.problem);
            let code = unusable.exit_code.into();
            return self.report(Failure {
                code,
                text,
                origin: Origin::Outside,
            });
        }
        if self.orders.options.report_bindings {
            self.send_up(&Up::Say(self.plan.describe(false).trim_end().to_owned()));
        }
        match self.start_ranks() {
            Ok(()) => self.send_up(&Up::Started),
            Err(problem) => {
                let text = format!("host {name}: {problem}");
                self.report(Failure {
                    code: 1,
                    text,
                    origin: Origin::Outside,
                });
                self.enter(Phase::Killed);
            }
        }
    }

    /// Until mpiexec says that the job is over, or is gone.
    fn work_until_over(&mut self, watchdog: Watchdog) -> io::Result<()> {
        let mut watchdog = Some(watchdog);
        let mut beaten = Instant::now();
        let mut is_done = false;
        loop {
            // A turn takes no longer than mpiexec may be without a sign of life. Where mpiexec is gone there are no more of those, and
            // ranks that cannot be ended are left to the watchdog.
            if let Some(watchdog) = watchdog.as_ref().filter(|_| beaten.elapsed() >= BEAT_TIME) {
                beaten = Instant::now();
                watchdog.beat();
            }
            let has_ended = !self.ranks.iter().any(|rank| rank.is_running());
            if let Some(watchdog) = watchdog.take_if(|_| has_ended) {
                self.look_at_abort();
                watchdog.dismiss();
                end_leftovers(self.upward.as_mut().map(|upward| &mut upward.children));
            }
            if has_ended && !is_done && self.output.is_finished() {
                is_done = true;
                self.send_up(&Up::Done);
            }
            let is_over = self
                .upward
                .as_ref()
                .is_none_or(|upward| upward.is_over || upward.link.is_none());
            if is_over && has_ended {
                return self.take_leave();
            }
            if is_over && self.ending.phase() == Phase::Running {
                self.enter(Phase::Killed);
            }
            self.turn()?;
            self.check_deadlines();
        }
    }

    /// Waits for the agents below, which have been told or see that their way has ended.
    fn take_leave(&mut self) -> io::Result<()> {
        let until = Instant::now() + FAREWELL_TIME;
        if let Some(upward) = &mut self.upward {
            upward.children.send(ALL_HOSTS, &Down::Bye, &self.epoll);
        }
        while Instant::now() < until
            && self
                .upward
                .as_ref()
                .is_some_and(|upward| !upward.children.are_gone())
        {
            self.turn()?;
            self.check_deadlines();
        }
        if let Some(upward) = &self.upward {
            upward.children.kill_launchers();
        }
        Ok(())
    }
}
