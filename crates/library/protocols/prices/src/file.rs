//! A file of prices: what it holds for, where it comes from, and a list for each kind of group that was measured.
//!
//! ```text
//! weft prices 1
//! processor = AMD EPYC
//! cpus = 0-1
//! kernel = 6.18.44
//! version = 0.1.0
//! date = 2026-11-28T19:44:17Z
//! command = weft tune
//! unit = ns
//!
//! [far]
//! round = 918
//! ...
//!
//! end
//! ```
//! Each field stands there once, each list has all its prices; lines that are empty, or begin with `#`, say nothing. A
//! file that was cut has no end.

use std::fmt;
use std::str::FromStr;

use crate::{Group, ITEMS, Lists, Machine, NAMES, Prices};

/// Five lists with comments take some 4 KiB.
pub const LONGEST_FILE_BYTES: u64 = 64 << 10;
const LONGEST_LINE_BYTES: usize = 1024;
/// Nothing that a price stands for takes a second.
const MOST_NS: f64 = 1e9;

const FIRST_LINE: &str = "weft prices 1";
const LAST_LINE: &str = "end";
const UNIT: &str = "ns";

/// Where prices come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Of WeftMPI.
    pub version: String,
    pub date: String,
    pub command: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct File {
    pub machine: Machine,
    pub origin: Origin,
    /// Each kind of group once, in the order of [`Group::ALL`].
    lists: Vec<(Group, Prices)>,
}

impl File {
    pub fn new(machine: Machine, origin: Origin, mut lists: Vec<(Group, Prices)>) -> File {
        lists.sort_by_key(|(group, _)| *group as usize);
        File {
            machine,
            origin,
            lists,
        }
    }

    /// Its lists, and those that are built in for groups that it has none for.
    pub fn lists(&self) -> Lists {
        let lists = self.lists.iter();
        lists.fold(Lists::BUILT_IN, |all, &(group, prices)| {
            all.with(group, prices)
        })
    }

    pub fn groups(&self) -> impl Iterator<Item = Group> {
        self.lists.iter().map(|(group, _)| *group)
    }

    fn fields(&self) -> [(&'static str, &str); FIELDS.len()] {
        let values = [
            self.machine.processor.as_str(),
            &self.machine.cpus,
            &self.machine.kernel,
            &self.origin.version,
            &self.origin.date,
            &self.origin.command,
            UNIT,
        ];
        std::array::from_fn(|field| (FIELDS[field], values[field]))
    }
}

const FIELDS: [&str; 7] = [
    "processor",
    "cpus",
    "kernel",
    "version",
    "date",
    "command",
    "unit",
];

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST_LINE}")?;
        for (name, value) in self.fields() {
            writeln!(f, "{name} = {value}")?;
        }
        for (group, prices) in &self.lists {
            writeln!(f, "\n[{}]", group.name())?;
            for (name, price) in NAMES.iter().zip(prices.0) {
                writeln!(f, "{name} = {price}")?;
            }
        }
        writeln!(f, "\n{LAST_LINE}")
    }
}

/// A list that is read.
struct Reading {
    group: Group,
    prices: [Option<f64>; ITEMS],
}

impl Reading {
    fn take(&mut self, name: &str, value: &str) -> Result<(), String> {
        let item = NAMES.iter().position(|known| *known == name);
        let item = item.ok_or_else(|| format!("`{name}` is no price"))?;
        let price = value.parse().ok();
        let price = price.filter(|price: &f64| (0.0..=MOST_NS).contains(price));
        let price = price
            .ok_or_else(|| format!("{name}: `{value}` is no number of ns from 0 to {MOST_NS}"))?;
        match self.prices[item].replace(price) {
            None => Ok(()),
            Some(_) => Err(format!("{name} stands twice in [{}]", self.group.name())),
        }
    }

    fn list(self) -> Result<(Group, Prices), String> {
        let missing = self.prices.iter().position(Option::is_none);
        match missing {
            None => Ok((
                self.group,
                Prices(self.prices.map(Option::unwrap_or_default)),
            )),
            Some(item) => Err(format!("[{}] has no {}", self.group.name(), NAMES[item])),
        }
    }
}

/// What was read of a file.
#[derive(Default)]
struct Parser {
    fields: [Option<String>; FIELDS.len()],
    list: Option<Reading>,
    lists: Vec<(Group, Prices)>,
    has_ended: bool,
}

impl Parser {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if self.has_ended {
            return Err("something stands behind the end".into());
        }
        if line == LAST_LINE {
            self.has_ended = true;
            return self.end_list();
        }
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            return self.begin(name);
        }
        let (name, value) = line
            .split_once('=')
            .ok_or_else(|| "it is neither `NAME = VALUE` nor `[GROUP]`".to_owned())?;
        let (name, value) = (name.trim(), value.trim());
        match &mut self.list {
            Some(list) => list.take(name, value),
            None => self.field(name, value),
        }
    }

    fn begin(&mut self, name: &str) -> Result<(), String> {
        self.end_list()?;
        let group = Group::ALL.into_iter().find(|group| group.name() == name);
        let group = group.ok_or_else(|| format!("[{name}] is no kind of group"))?;
        if self.lists.iter().any(|(before, _)| *before == group) {
            return Err(format!("[{name}] stands twice"));
        }
        self.list = Some(Reading {
            group,
            prices: [None; ITEMS],
        });
        Ok(())
    }

    fn end_list(&mut self) -> Result<(), String> {
        if let Some(list) = self.list.take() {
            self.lists.push(list.list()?);
        }
        Ok(())
    }

    fn field(&mut self, name: &str, value: &str) -> Result<(), String> {
        let field = FIELDS.iter().position(|known| *known == name);
        let field = field.ok_or_else(|| format!("`{name}` is no field"))?;
        if value.is_empty() || value.chars().any(char::is_control) {
            return Err(format!("{name} has no value, or one that is no text"));
        }
        if name == "unit" && value != UNIT {
            return Err(format!("unit: `{value}` is not {UNIT}"));
        }
        match self.fields[field].replace(value.to_owned()) {
            None => Ok(()),
            Some(_) => Err(format!("{name} stands twice")),
        }
    }

    fn end(self) -> Result<File, String> {
        if !self.has_ended {
            return Err("the file was cut: there is no end".into());
        }
        if let Some(field) = self.fields.iter().position(Option::is_none) {
            return Err(format!("there is no {}", FIELDS[field]));
        }
        if self.lists.is_empty() {
            return Err("there is no list of prices".into());
        }
        let [processor, cpus, kernel, version, date, command, _] =
            self.fields.map(Option::unwrap_or_default);
        let machine = Machine {
            processor,
            cpus,
            kernel,
        };
        let origin = Origin {
            version,
            date,
            command,
        };
        Ok(File::new(machine, origin, self.lists))
    }
}

impl FromStr for File {
    /// One line, with the number of the line that is wrong.
    type Err = String;

    fn from_str(text: &str) -> Result<File, String> {
        // It is told on terminals, which obey what others have written there.
        parsed(text).map_err(|why| why.replace(char::is_control, "?"))
    }
}

fn parsed(text: &str) -> Result<File, String> {
    let mut parser = Parser::default();
    let mut last = 1;
    for (number, line) in (1..).zip(text.lines()) {
        let at = |why: String| format!("line {number}: {why}");
        if line.len() > LONGEST_LINE_BYTES {
            return Err(at(format!("it has more than {LONGEST_LINE_BYTES} bytes")));
        }
        let line = line.trim();
        let is_first = number == 1;
        if is_first != (line == FIRST_LINE) {
            return Err(at(format!("a file of prices begins with `{FIRST_LINE}`")));
        }
        if !is_first && !line.is_empty() && !line.starts_with('#') {
            parser.line(line).map_err(at)?;
        }
        last = number;
    }
    parser.end().map_err(|why| format!("line {last}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file() -> File {
        let machine = Machine {
            processor: "Fast=CPU".into(),
            cpus: "0-3".into(),
            kernel: "6.1".into(),
        };
        let origin = Origin {
            version: "0.1.0".into(),
            date: "2026-11-28T19:44:17Z".into(),
            command: "weft tune --ranks 2".into(),
        };
        let near = Prices(std::array::from_fn(|item| item as f64 / 8.0));
        let far = Prices([918.0; ITEMS]);
        File::new(
            machine,
            origin,
            vec![(Group::Near, near), (Group::Far, far)],
        )
    }

    #[test]
    fn what_is_written_is_read() {
        let file = file();
        let text = file.to_string();
        assert_eq!(text.parse(), Ok(file.clone()));
        let loose = text.replace(" = ", "=").replace('\n', "\n# more\n\n");
        assert_eq!(loose.parse(), Ok(file.clone()));
        let lists = file.lists();
        assert_eq!(lists.of(Group::Far), &Prices([918.0; ITEMS]));
        let other = Group::SharedCores;
        assert_eq!(lists.of(other), Lists::BUILT_IN.of(other));
    }

    #[test]
    fn what_is_wrong_is_one_line_with_its_number() {
        let text = file().to_string();
        let refused = |from: &str, to: &str| {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from}");
            let why = changed.parse::<File>().unwrap_err();
            assert_eq!(why.lines().count(), 1, "{why}");
            why
        };
        for (from, to, why) in [
            (
                FIRST_LINE,
                "weft prices 2",
                "line 1: a file of prices begins with",
            ),
            ("cpus = 0-3\n", "", "there is no cpus"),
            ("cpus = 0-3", "cpus =", "line 3: cpus has no value"),
            ("cpus = 0-3", "cores = 3", "line 3: `cores` is no field"),
            ("cpus = 0-3", "kernel = 3", "line 4: kernel stands twice"),
            ("unit = ns", "unit = us", "line 8: unit: `us` is not ns"),
            (
                "round = 918",
                "round = -1",
                "line 11: round: `-1` is no number",
            ),
            (
                "round = 918",
                "round = inf",
                "line 11: round: `inf` is no number",
            ),
            (
                "round = 918",
                "round = nan",
                "line 11: round: `nan` is no number",
            ),
            (
                "round = 918",
                "round = 1e99",
                "line 11: round: `1e99` is no number",
            ),
            ("round = 918", "round 918", "line 11: it is neither"),
            (
                "round = 918",
                "circle = 918",
                "line 11: `circle` is no price",
            ),
            (
                "round = 918",
                "step = 918",
                "line 12: step stands twice in [far]",
            ),
            ("round = 918\n", "", "[far] has no round"),
            ("[near]", "end", "something stands behind the end"),
            ("[near]", "[far]", "[far] stands twice"),
            ("[near]", "[nearer]", "[nearer] is no kind of group"),
        ] {
            let told = refused(from, to);
            assert!(told.contains(why) && told.starts_with("line "), "{told}");
        }
        let header = &text[..text.find("[far]").unwrap()];
        let why = format!("{header}end").parse::<File>().unwrap_err();
        assert!(why.ends_with("there is no list of prices"), "{why}");
        let long = format!("{FIRST_LINE}\n#{}", " ".repeat(LONGEST_LINE_BYTES));
        assert!(long.parse::<File>().unwrap_err().starts_with("line 2: "));
    }

    proptest! {
        /// A file that was cut anywhere, or has other bytes in it, is read as it is written, or refused.
        #[test]
        fn what_is_spoilt_is_refused_or_means_something(cut in 0..1000usize, at in 0..1000usize, byte in "[ -~\n]") {
            let text = file().to_string();
            let cut = cut.min(text.len());
            prop_assert!(text[..cut].parse::<File>().is_err() || text[cut..].trim().is_empty());
            let mut spoilt = text.clone();
            let at = at.min(text.len() - 1);
            spoilt.replace_range(at..at + 1, &byte);
            if let Ok(read) = spoilt.parse::<File>() {
                prop_assert_eq!(read.to_string().parse(), Ok(read));
            }
        }
    }
}
