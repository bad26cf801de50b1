//! What goes to standard output, and tables in it.

use std::io::{self, ErrorKind, Write};

/// Writes what `command` has found out. A reader that has gone away, as `head` does, is no failure.
pub fn write(command: &str, text: &str) {
    let done = io::stdout().lock().write_all(text.as_bytes());
    if let Err(error) = done
        && error.kind() != ErrorKind::BrokenPipe
    {
        eprintln!("{command}: {error}");
    }
}

/// Lines of cells under each other: the first of a line to the left, the others to the right.
pub fn columns<const N: usize>(lines: &[[String; N]]) -> String {
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max();
    let widths: Vec<usize> = (0..N).filter_map(width).collect();
    let mut text = String::new();
    for line in lines {
        for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            match column {
                0 => text += &format!("{cell:<width$}"),
                _ => text += &format!("  {cell:>width$}"),
            }
        }
        text.push('\n');
    }
    text
}

/// Rows in columns, right-aligned but for the first.
pub fn align(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| {
        rows.iter()
            .filter_map(|r| r.get(c))
            .map(|t| t.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(c, cell)| {
            let width = widths[c];
            if c == 0 {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A time that a simulation has found.
pub fn duration(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}
