//! Tables as `--tune` prints them, read again: rules follow from what was measured on other machines, too.

use super::figures::Figures;
use super::layout::HostsLayout;
use super::rules::{self, OnHosts};
use crate::bench::stats::parse_binary;

/// What stood in them.
#[derive(Debug)]
pub struct Printed {
    /// The first line of each: the machine.
    machines: Vec<String>,
    points: Vec<u64>,
    measured: Vec<OnHosts>,
}

impl Printed {
    /// Tables of the same lengths.
    pub fn read<T: AsRef<str>>(texts: &[T]) -> Result<Printed, String> {
        let mut printed = Printed {
            machines: Vec::new(),
            points: Vec::new(),
            measured: Vec::new(),
        };
        for text in texts {
            let mut lines = text.as_ref().lines();
            printed.machines.extend(lines.next().map(str::to_owned));
            while let Some(line) = lines.next() {
                if let Some((operation, layout)) = title(line) {
                    let rows = lines.by_ref().take_while(|line| !line.trim().is_empty());
                    printed.table(operation, layout?, &rows.collect::<Vec<_>>())?;
                }
            }
        }
        match printed.measured.is_empty() {
            true => Err("there is no table of `weft bench collectives --tune`".into()),
            false => Ok(printed),
        }
    }

    fn table(&mut self, operation: &str, layout: HostsLayout, rows: &[&str]) -> Result<(), String> {
        let wrong = || format!("the table of {operation} on {layout} is not as printed");
        let (header, rows) = rows.split_first().ok_or_else(wrong)?;
        let names: Vec<&str> = header.split_whitespace().collect();
        // Bytes before them; the fastest and the ratio behind.
        let algorithms = names
            .get(1..names.len().saturating_sub(2))
            .ok_or_else(wrong)?;
        let words: Vec<Vec<&str>> = rows
            .iter()
            .map(|row| row.split_whitespace().collect())
            .collect();
        let points: Result<Vec<u64>, String> =
            words.iter().map(|row| parse_binary(row[0])).collect();
        let points = points?;
        if self.points.is_empty() {
            self.points = points;
        } else if self.points != points {
            return Err(format!("{} has other lengths than the first", wrong()));
        }
        let at = self.measured.iter().position(|(one, _)| *one == layout);
        let at = at.unwrap_or_else(|| {
            self.measured.push((layout, Figures::default()));
            self.measured.len() - 1
        });
        let figures = &mut self.measured[at].1;
        for (row, &bytes) in words.iter().zip(&self.points) {
            for (algorithm, figure) in algorithms.iter().zip(&row[1..]) {
                if *figure != "-" {
                    let value = figure.parse().map_err(|_| wrong())?;
                    figures.add(
                        &self.points,
                        &format!("{operation}/{algorithm}"),
                        bytes,
                        value,
                    );
                }
            }
        }
        Ok(())
    }

    /// The file of rules.
    pub fn rules(&self) -> String {
        let mut said = String::new();
        for (machine, (layout, _)) in self.machines.iter().zip(&self.measured) {
            said.push_str(&format!("//! {layout}: {machine}\n"));
        }
        rules::file(&self.measured, &self.points, &said)
    }
}

/// The operation and layout of a table's title, if the line is one: `bcast on 16 ranks, by algorithm`, `... on 4 hosts x 2 ranks, ...`.
fn title(line: &str) -> Option<(&str, Result<HostsLayout, String>)> {
    let (operation, rest) = line.split_once(" on ")?;
    let (ranks, _) = rest.split_once(" ranks, by algorithm")?;
    let layout = match ranks.split_once(" hosts x ") {
        Some((hosts, ranks)) => format!("{hosts}x{ranks}"),
        None => format!("1x{ranks}"),
    };
    Some((operation, layout.parse()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "A machine\n\nbcast on 3 ranks, by algorithm (us, lower is better)\n  \
                        bytes  table  linear  shared  fastest  table/fastest\n  8  1.5  2.0  1.0  shared  1.50\n  \
                        64K  -  2.5  3  linear  -\n\n";

    #[test]
    fn a_table_is_read_as_it_was_printed() {
        let printed = Printed::read(&[TEXT]).unwrap();
        assert_eq!(printed.points, [8, 64 << 10]);
        let [(layout, figures)] = &printed.measured[..] else {
            panic!("one layout")
        };
        assert_eq!(layout.to_string(), "1x3");
        let [bcast] = &figures.operations[..] else {
            panic!("one operation")
        };
        let values = bcast
            .algorithms
            .iter()
            .map(|one| (one.name.as_str(), one.value(0), one.value(1)));
        let wanted = [
            ("table", Some(1.5), None),
            ("linear", Some(2.0), Some(2.5)),
            ("shared", Some(1.0), Some(3.0)),
        ];
        assert_eq!(values.collect::<Vec<_>>(), wanted);
        assert!(printed.rules().contains("//! 1x3: A machine\n"));
    }

    #[test]
    fn what_is_no_table_is_told() {
        for (text, why) in [
            ("", "no table"),
            ("bcast on 16 ranks, without more", "no table"),
            ("A machine\nbcast on 2 ranks, by algorithm\n", "HOSTSxRANKS"),
            (
                "A machine\nbcast on 3 ranks, by algorithm\n",
                "not as printed",
            ),
            (&TEXT.replace("2.0", "fast"), "not as printed"),
            (&TEXT.replace("64K", "64G"), "64G"),
        ] {
            let found = Printed::read(&[text]).unwrap_err();
            assert!(found.contains(why), "{text}: {found}");
        }
    }
}
