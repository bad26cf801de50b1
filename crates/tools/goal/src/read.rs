//! Schedules from text, a statement a line. Ranks stand in their order, so that a short text is a small schedule; an
//! operation needs no label, and what it waits for may stand before it or behind it. Each rank has one processor and
//! one adapter.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead};

use crate::{Operation, Order, Rank, Schedule, Until};

/// A bound on lengths and times, far above any that is meant: sums of them stay exact.
const MOST: u64 = 1 << 48;

/// Of what is quoted from a text.
const QUOTED_CHARACTERS: usize = 40;

/// What is wrong with a text, in which line, counted from 1.
#[derive(Debug, PartialEq, Eq)]
pub struct Unreadable {
    pub line: usize,
    pub what: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Unreadable {}

/// Reads all of a text.
pub fn read(text: impl BufRead) -> Result<Schedule, Unreadable> {
    let mut reader = Reader::default();
    let mut line = 0;
    for read in text.lines() {
        line += 1;
        let done = read
            .map_err(|error| cannot_be_read(&error))
            .and_then(|text| reader.statement(&text, line));
        done.map_err(|what| Unreadable { line, what })?;
    }
    reader.finish(line + 1)
}

fn cannot_be_read(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::InvalidData => "it is no text in UTF-8".to_owned(),
        _ => error.to_string(),
    }
}

#[derive(Default)]
struct Reader {
    /// What `num_ranks` said.
    count: Option<u32>,
    ranks: Vec<Rank>,
    open: Option<OpenRank>,
}

/// A rank whose end was not read yet.
#[derive(Default)]
struct OpenRank {
    rank: Rank,
    labels: HashMap<String, u32>,
    orders: Vec<NamedOrder>,
}

struct NamedOrder {
    line: usize,
    operation: String,
    before: String,
    until: Until,
}

impl Reader {
    fn statement(&mut self, text: &str, line: usize) -> Result<(), String> {
        let text = text.split("//").next().unwrap_or("").trim();
        let words: Vec<&str> = text.split_whitespace().collect();
        match (&mut self.open, &words[..]) {
            (_, []) => Ok(()),
            (None, ["num_ranks", count]) => self.count_ranks(count),
            (None, ["rank", number, "{"]) => self.begin(number),
            (Some(_), ["}"]) => self.end(),
            (Some(open), words) => open.statement(words, self.count.unwrap_or(0), line),
            (None, _) => Err(format!(
                "{} stands where `num_ranks N` or `rank R {{` belongs",
                quoted(text)
            )),
        }
    }

    fn count_ranks(&mut self, count: &str) -> Result<(), String> {
        if self.count.is_some() {
            return Err("num_ranks stands here a second time".to_owned());
        }
        self.count = Some(number(count, u64::from(u32::MAX))? as u32);
        Ok(())
    }

    fn begin(&mut self, rank: &str) -> Result<(), String> {
        let Some(count) = self.count else {
            return Err("num_ranks has to stand before the first rank".to_owned());
        };
        let (rank, next) = (number(rank, u64::from(u32::MAX))?, self.ranks.len());
        if next >= count as usize {
            return Err(format!("there are {count} ranks, and this is one more"));
        }
        if rank != next as u64 {
            return Err(format!("rank {rank} stands where rank {next} belongs"));
        }
        self.open = Some(OpenRank::default());
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        if let Some(open) = self.open.take() {
            self.ranks.push(open.finish()?);
        }
        Ok(())
    }

    fn finish(self, line: usize) -> Result<Schedule, Unreadable> {
        let what = match self.count {
            _ if self.open.is_some() => format!("rank {} has no end", self.ranks.len()),
            None => "there is no num_ranks".to_owned(),
            Some(count) if self.ranks.len() < count as usize => {
                format!("of {count} ranks there are {}", self.ranks.len())
            }
            Some(_) => return Ok(Schedule { ranks: self.ranks }),
        };
        Err(Unreadable { line, what })
    }
}

impl OpenRank {
    fn statement(&mut self, words: &[&str], ranks: u32, line: usize) -> Result<(), String> {
        let (operation, verb) = match words {
            [operation, verb, _] => (*operation, *verb),
            _ => ("", ""),
        };
        let until = match verb {
            "requires" => Until::Over,
            "irequires" => Until::Begun,
            _ => return self.operation(words, ranks),
        };
        self.orders.push(NamedOrder {
            line,
            operation: operation.to_owned(),
            before: words[2].to_owned(),
            until,
        });
        Ok(())
    }

    fn operation(&mut self, words: &[&str], ranks: u32) -> Result<(), String> {
        let (label, rest) = match words {
            [first, rest @ ..] if first.ends_with(':') => (first.strip_suffix(':'), rest),
            _ => (None, words),
        };
        let operation = parse(rest, ranks)?;
        let number = self.rank.operations.len() as u32;
        if let Some(label) = label
            && self.labels.insert(label.to_owned(), number).is_some()
        {
            return Err(format!("label {} stands here a second time", quoted(label)));
        }
        self.rank.operations.push(operation);
        Ok(())
    }

    fn finish(mut self) -> Result<Rank, String> {
        let labels = &self.labels;
        let number = |label: &str, line: usize| {
            let found = labels.get(label).copied();
            found.ok_or_else(|| {
                format!(
                    "the rank has no label {}, which line {line} names",
                    quoted(label)
                )
            })
        };
        for order in &self.orders {
            self.rank.orders.push(Order {
                operation: number(&order.operation, order.line)?,
                before: number(&order.before, order.line)?,
                until: order.until,
            });
        }
        Ok(self.rank)
    }
}

fn parse(words: &[&str], ranks: u32) -> Result<Operation, String> {
    let peer = |text: &str| {
        let peer = number(text, u64::from(u32::MAX))? as u32;
        match peer < ranks {
            true => Ok(peer),
            false => Err(format!("rank {peer} is none of {ranks}")),
        }
    };
    let tag = |words: &[&str]| match words {
        [] => Ok(0),
        ["tag", tag] => Ok(number(tag, u64::from(u32::MAX))? as u32),
        _ => Err(format!(
            "{} stands where `tag N` belongs",
            quoted(&words.join(" "))
        )),
    };
    match words {
        ["calc", ns] => Ok(Operation::Calc {
            ns: number(ns, MOST)?,
        }),
        ["send", length, "to", to, rest @ ..] => Ok(Operation::Send {
            to: peer(to)?,
            bytes: bytes(length)?,
            tag: tag(rest)?,
        }),
        ["recv", length, "from", from, rest @ ..] => Ok(Operation::Receive {
            from: peer(from)?,
            bytes: bytes(length)?,
            tag: tag(rest)?,
        }),
        _ => Err(format!(
            "{} is no statement of GOAL",
            quoted(&words.join(" "))
        )),
    }
}

/// `8b`.
fn bytes(text: &str) -> Result<u64, String> {
    match text.strip_suffix('b') {
        Some(digits) => number(digits, MOST),
        None => Err(format!("{} is no length such as 8b", quoted(text))),
    }
}

fn number(text: &str, most: u64) -> Result<u64, String> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if is_plain && number <= most => Ok(number),
        _ => Err(format!("{} is no number up to {most}", quoted(text))),
    }
}

fn quoted(text: &str) -> String {
    let clipped: String = text.chars().take(QUOTED_CHARACTERS).collect();
    let more = if clipped.len() < text.len() {
        "..."
    } else {
        ""
    };
    format!("{clipped:?}{more}")
}
