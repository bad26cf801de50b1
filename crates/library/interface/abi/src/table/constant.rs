//! The constants of the ABI.

use std::sync::LazyLock;

/// Constants that belong together.
#[derive(Debug)]
pub struct Section {
    pub title: &'static str,
    pub constants: Vec<Constant>,
}

#[derive(Debug)]
pub struct Constant {
    /// Without `MPI_`.
    pub name: &'static str,
    pub value: Value,
}

#[derive(Debug)]
pub enum Value {
    /// Another name of a constant.
    Alias(&'static str),
    /// A value of an integer, handle, pointer or callback type, as written in the table.
    Of {
        c_type: &'static str,
        text: &'static str,
    },
}

/// Every constant, in sections.
pub fn sections() -> &'static [Section] {
    static SECTIONS: LazyLock<Vec<Section>> = LazyLock::new(|| {
        include_str!("../../table/constants.txt")
            .split("section ")
            .filter(|text| !text.trim().is_empty())
            .map(Section::parse)
            .collect()
    });
    &SECTIONS
}

impl Section {
    fn parse(text: &'static str) -> Section {
        let (title, lines) = text.split_once('\n').expect("a section has constants");
        let constants = lines
            .lines()
            .filter(|line| !line.is_empty())
            .map(Constant::parse);
        Section {
            title,
            constants: constants.collect(),
        }
    }
}

impl Constant {
    /// `type NAME value`, or `= NAME OTHER`.
    fn parse(line: &'static str) -> Constant {
        let words: Vec<&str> = line.split(' ').collect();
        let [c_type, name, text] = words[..] else {
            panic!("constant {line:?} is not `type NAME value`");
        };
        let value = match c_type {
            "=" => Value::Alias(text),
            _ => Value::Of { c_type, text },
        };
        Constant { name, value }
    }

    /// The number behind the constant, whatever its type.
    pub fn number(&self) -> i64 {
        match self.value {
            Value::Alias(other) => constant(other).number(),
            Value::Of { text, .. } => match text.strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16),
                None => text.parse(),
            }
            .unwrap_or_else(|_| panic!("{} has no number for a value", self.name)),
        }
    }
}

fn constant(name: &str) -> &'static Constant {
    sections()
        .iter()
        .flat_map(|section| &section.constants)
        .find(|constant| constant.name == name)
        .unwrap_or_else(|| panic!("no constant {name}"))
}
