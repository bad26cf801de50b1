//! What a host charges: measured (`weft_host`), or read.
//!
//! In a file each figure stands on a line, `NAME = VALUE`, once; lines that are empty, or begin with `#`, say nothing. A
//! table has nanoseconds by bytes: `4096:240 32768:1460`.

use std::str::FromStr;

use weft_host::{ByCores, Model};

/// Nanoseconds by bytes: in between, and below the first, in proportion; beyond the last at its rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table(pub Vec<(usize, f64)>);

impl Table {
    /// The same of calls, of which each takes a time of its own: below the first point as between the first two.
    pub fn call_ns(&self, bytes: usize) -> f64 {
        match self.0[..] {
            [(first, first_ns), (second, second_ns), ..] if bytes < first => {
                let byte_ns = (second_ns - first_ns) / (second - first) as f64;
                (first_ns - (first - bytes) as f64 * byte_ns).max(0.0)
            }
            _ => self.ns(bytes),
        }
    }

    /// The same, where it is the first point's below that, and the last one's beyond the last.
    pub fn between_ns(&self, at: f64) -> f64 {
        let (Some(&(first, first_ns)), Some(&(last, last_ns))) = (self.0.first(), self.0.last())
        else {
            return 0.0;
        };
        match at {
            at if at <= first as f64 => first_ns,
            at if at >= last as f64 => last_ns,
            at => self.ns(at as usize),
        }
    }

    pub fn ns(&self, bytes: usize) -> f64 {
        let bytes = bytes as f64;
        let mut from = (0.0, 0.0);
        for &(to, ns) in &self.0 {
            let to = (to as f64, ns);
            if bytes <= to.0 {
                return from.1 + (bytes - from.0) * (to.1 - from.1) / (to.0 - from.0);
            }
            from = to;
        }
        from.1 * bytes / from.0
    }
}

/// Times in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Host {
    pub cores: usize,
    /// That share a cache and follow each other.
    pub cores_a_group: usize,
    pub cores_a_socket: usize,
    /// A line from core to core of a group, of other groups, and of the other socket.
    pub near_line_ns: f64,
    pub line_ns: f64,
    pub socket_line_ns: f64,
    /// Each further of several lines that a core looks for at once.
    pub further_line_ns: f64,
    /// Until a rank runs that has slept for so many nanoseconds; the waker's call.
    pub wake: Table,
    pub wake_call_ns: f64,
    pub yield_ns: f64,
    /// In the core's own caches; of what another core has written.
    pub own_copy: Table,
    pub shared_copy: Table,
    /// By the kernel, alone, and while others read the same process's memory: what each adds.
    pub kernel_read: Table,
    pub kernel_read_contended: Table,
}

/// Models that are built in, by name.
pub const MACHINES: [(&str, &str); 3] = [
    ("epyc-2", include_str!("machines/epyc-2.host")),
    ("xeon-16", include_str!("machines/xeon-16.host")),
    (
        "two-sockets-128",
        include_str!("machines/two-sockets-128.host"),
    ),
];

/// A pair of cores is of one group if a line takes less than this part of the longest way.
const NEAR: f64 = 0.7;

impl Host {
    /// One that is built in.
    pub fn named(name: &str) -> Option<Host> {
        let (_, text) = MACHINES.into_iter().find(|(known, _)| *known == name)?;
        Some(text.parse().expect("a test reads those that are built in"))
    }

    /// A line from a core to another.
    pub fn line_between_ns(&self, from: usize, to: usize) -> f64 {
        let same = |cores: usize| from / cores == to / cores;
        match (same(self.cores_a_group), same(self.cores_a_socket)) {
            (true, _) => self.near_line_ns,
            (_, true) => self.line_ns,
            _ => self.socket_line_ns,
        }
    }

    /// As measured. None of one core, or where the kernel copies nothing between processes.
    pub fn measured(model: &Model) -> Option<Host> {
        let longest = (model.word_ns.iter()).map(|&(_, ns)| ns).reduce(f64::max)?;
        let is_near = |&(_, ns): &(usize, f64)| ns < NEAR * longest;
        let near = model.word_ns.iter().copied().take_while(is_near);
        let (near, near_ns) = near.fold((0, longest), |(count, _), (_, ns)| (count + 1, ns));
        let all = model.cpus.len();
        let last = |by: &ByCores| by.last().map(|&(_, figure)| figure);
        let &(_, pair_ns) = model.answers_ns.first()?;
        let further = (last(&model.answers_ns)? - pair_ns) / (all - 1).max(1) as f64;
        let table = |points: &[(usize, f64)]| Table(points.to_vec());
        let copies: Option<Vec<_>> = (model.copy_rates.iter())
            .map(|(bytes, rates)| Some((*bytes, *bytes as f64 / last(rates)?)))
            .collect();
        let shared: Option<Vec<_>> = (model.same_copies_us.iter())
            .map(|(bytes, times)| Some((*bytes, 1e3 * last(times)?)))
            .collect();
        let kernel = model.kernel_copies.as_ref()?;
        let alone: Option<Vec<_>> = (kernel.iter())
            .map(|(bytes, copies)| Some((*bytes, 1e3 * last(&copies.of_own_us)?)))
            .collect();
        let contended: Option<Vec<_>> = (kernel.iter())
            .map(|(bytes, copies)| {
                let &(count, us) = copies.of_one_us.last()?;
                Some((*bytes, 1e3 * us / count as f64))
            })
            .collect();
        let wakes = model.wakes.iter();
        let wakes = wakes.map(|wake| (1000 * wake.asleep_us as usize, 1e3 * wake.median_us));
        let wakes = wakes.collect();
        let wake = model.wakes.first();
        Some(Host {
            cores: all,
            cores_a_group: near + 1,
            cores_a_socket: all,
            near_line_ns: near_ns,
            line_ns: longest,
            socket_line_ns: longest,
            further_line_ns: further.max(1.0),
            wake: Table(wakes),
            wake_call_ns: wake.map_or(0.0, |wake| 1e3 * wake.call_us),
            yield_ns: model.yield_ns,
            own_copy: table(&copies?),
            shared_copy: table(&shared?),
            kernel_read: table(&alone?),
            kernel_read_contended: table(&contended?),
        })
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = || positive(value).ok_or_else(|| format!("{name}: `{value}` is no number"));
        let count = || match value.parse() {
            Ok(count @ 1..=MOST_CORES) => Ok(count),
            _ => Err(format!("{name}: `{value}` is no number of cores")),
        };
        let points = || {
            let points = table(value);
            points.ok_or_else(|| format!("{name}: `{value}` is no `BYTES:NS ...`"))
        };
        match name {
            "cores" => self.cores = count()?,
            "cores_a_group" => self.cores_a_group = count()?,
            "cores_a_socket" => self.cores_a_socket = count()?,
            "near_line_ns" => self.near_line_ns = number()?,
            "line_ns" => self.line_ns = number()?,
            "socket_line_ns" => self.socket_line_ns = number()?,
            "further_line_ns" => self.further_line_ns = number()?,
            "wake" => self.wake = points()?,
            "wake_call_ns" => self.wake_call_ns = number()?,
            "yield_ns" => self.yield_ns = number()?,
            "own_copy" => self.own_copy = points()?,
            "shared_copy" => self.shared_copy = points()?,
            "kernel_read" => self.kernel_read = points()?,
            "kernel_read_contended" => self.kernel_read_contended = points()?,
            _ => return Err(format!("`{name}` is no figure of a host")),
        }
        Ok(())
    }
}

/// How many figures a file has: each once.
const FIGURES: usize = 14;
/// More than any host has.
const MOST_CORES: usize = 1 << 16;

fn positive(value: &str) -> Option<f64> {
    let number = value.parse().ok()?;
    (number > 0.0 && number < 1e12).then_some(number)
}

fn table(value: &str) -> Option<Table> {
    let point = |word: &str| {
        let (bytes, ns) = word.split_once(':')?;
        Some((bytes.parse().ok()?, positive(ns)?))
    };
    let points: Option<Vec<(usize, f64)>> = value.split_whitespace().map(point).collect();
    let points = points.filter(|points| points.first().is_some_and(|&(bytes, _)| bytes > 0))?;
    let ascends = points.windows(2).all(|two| two[0].0 < two[1].0);
    ascends.then_some(Table(points))
}

impl FromStr for Host {
    /// One line.
    type Err = String;

    fn from_str(text: &str) -> Result<Host, String> {
        let (mut host, mut seen) = (Host::default(), Vec::new());
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let at = |why: String| format!("line {number}: {}", why.replace(char::is_control, "?"));
            let (name, value) = line
                .split_once('=')
                .ok_or_else(|| at("it is no `NAME = VALUE`".to_owned()))?;
            let (name, value) = (name.trim(), value.trim());
            host.set(name, value).map_err(at)?;
            if seen.contains(&name) {
                return Err(at(format!("{name} stands twice")));
            }
            seen.push(name);
        }
        match seen.len() {
            FIGURES => Ok(host),
            count => Err(format!("{count} of a host's {FIGURES} figures")),
        }
    }
}
