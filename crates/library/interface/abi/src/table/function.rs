//! Functions, callbacks and their parameters.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::CType;
use super::entry::entries;

/// A function of the ABI, or a callback type.
#[derive(Debug)]
pub struct Function {
    /// Without `MPI_` and without `_c`.
    pub name: &'static str,
    /// May be called before `MPI_Init` and after `MPI_Finalize`.
    pub any_time: bool,
    pub deprecated: bool,
    pub parameters: Vec<Parameter>,
    /// `int` stands for an error code, as the standard has it, except where [`Function::returns_value`].
    pub returns: &'static str,
    returns_value: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
    InOut,
}

#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    /// The standard's kind: `RANK`, `TAG`, `POLYXFER_NUM_ELEM_NNI`, ...
    pub kind: &'static str,
    pub direction: Direction,
    /// Only the large-count form has this parameter.
    pub large_only: bool,
    small: CType,
    large: CType,
}

/// The callback types, named without `MPI_`.
pub fn callbacks() -> &'static [Function] {
    static CALLBACKS: LazyLock<Vec<Function>> = LazyLock::new(|| {
        entries(include_str!("../../table/callbacks.txt"))
            .map(Function::parse)
            .collect()
    });
    &CALLBACKS
}

impl Function {
    pub(super) fn parse(entry: &'static str) -> Function {
        let parts = entry
            .split_once('(')
            .and_then(|(head, rest)| rest.rsplit_once(')').map(|(list, tail)| (head, list, tail)));
        let Some((head, list, tail)) = parts else {
            panic!("{entry:?} is not `Name flags(parameters) -> type`");
        };
        let mut words = head.split(' ');
        let name = words.next().expect("split yields at least one word");
        let flags: Vec<&str> = words.collect();
        let returns = tail.trim().strip_prefix("-> ");
        Function {
            name,
            any_time: flags.contains(&"any"),
            deprecated: flags.contains(&"deprecated"),
            parameters: list
                .split(',')
                .map(str::trim)
                .filter(|parameter| !parameter.is_empty())
                .map(Parameter::parse)
                .collect(),
            returns: returns.unwrap_or("int"),
            returns_value: returns.is_some(),
        }
    }

    /// Whether a large-count twin `MPI_<name>_c` exists.
    pub fn has_large(&self) -> bool {
        self.parameters
            .iter()
            .any(|parameter| parameter.large_only || parameter.kind.starts_with("POLY"))
    }

    /// Whether Fortran has it: all but the tool interface and the conversions of handles to what they are in Fortran.
    pub fn has_fortran(&self) -> bool {
        let converts = self.name.ends_with("_toint") || self.name.ends_with("_fromint");
        !converts && !self.name.starts_with("T_")
    }

    /// Whether `mpi_f08` has it: all that Fortran has but what MPI-2.0 deprecated (MPI-5.0 §16.1).
    pub fn has_f08(&self) -> bool {
        let old = [
            "Attr_delete",
            "Attr_get",
            "Attr_put",
            "Keyval_create",
            "Keyval_free",
        ];
        self.has_fortran() && !old.contains(&self.name)
    }

    /// Whether `mpi_f08` has a form with large counts: where one number alone is larger in C, and an address is as wide as a
    /// count, both are the same in Fortran.
    pub fn has_large_f08(&self) -> bool {
        let kind = |c_type: CType| match c_type.base {
            "MPI_Aint" => "MPI_Count",
            base => base,
        };
        self.has_f08()
            && self.parameters.iter().any(|parameter| {
                parameter.large_only || kind(parameter.small) != kind(parameter.large)
            })
    }

    /// Whether it takes a choice buffer.
    pub fn has_buffer(&self) -> bool {
        self.parameters
            .iter()
            .any(|parameter| parameter.kind == "BUFFER")
    }

    /// Whether the result is the answer itself and not an error code (`MPI_Wtime`, `MPI_Comm_toint`).
    pub fn returns_value(&self) -> bool {
        self.returns_value
    }

    /// The C names, large-count twin included.
    pub fn c_names(&self) -> impl Iterator<Item = String> {
        let large = self.has_large().then(|| self.c_name(true));
        std::iter::once(self.c_name(false)).chain(large)
    }

    /// `MPI_Send`, or `MPI_Send_c` if `large`; `MPIX_Comm_agree` of the extension `X_Comm_agree`.
    pub fn c_name(&self, large: bool) -> String {
        let between = if self.name.starts_with("X_") { "" } else { "_" };
        format!("MPI{between}{}{}", self.name, if large { "_c" } else { "" })
    }

    /// The parameters of the form asked for.
    pub fn parameters(&self, large: bool) -> impl Iterator<Item = &Parameter> {
        self.parameters
            .iter()
            .filter(move |parameter| large || !parameter.large_only)
    }
}

impl Parameter {
    fn parse(text: &'static str) -> Parameter {
        let mut direction = Direction::In;
        let (mut large_only, mut constant) = (false, false);
        let mut words = text.split(' ');
        let kind = loop {
            match words.next() {
                Some("out") => direction = Direction::Out,
                Some("inout") => direction = Direction::InOut,
                Some("large") => large_only = true,
                Some("const") => constant = true,
                Some(kind) => break Kind::of(kind),
                None => panic!("parameter {text:?} has no kind"),
            }
        };
        let declarator = words
            .next()
            .unwrap_or_else(|| panic!("parameter {text:?} has no name"));
        let name = declarator.trim_start_matches('*');
        let pointers = declarator.len() - name.len();
        let (name, array) = name.split_at(name.find('[').unwrap_or(name.len()));
        let of = |base| CType {
            constant,
            base,
            function: kind.function,
            pointers,
            array,
        };
        Parameter {
            name,
            kind: kind.name,
            direction,
            large_only,
            small: of(kind.small),
            large: of(kind.large),
        }
    }

    /// The C type in the small-count or the large-count form.
    pub fn c_type(&self, large: bool) -> CType {
        if large { self.large } else { self.small }
    }

    /// Whether this is the `...` of a variadic function.
    pub fn is_varargs(&self) -> bool {
        self.kind == "VARARGS"
    }
}

/// A parameter kind and the C types that it stands for.
struct Kind {
    name: &'static str,
    small: &'static str,
    large: &'static str,
    function: bool,
}

impl Kind {
    fn of(text: &'static str) -> Kind {
        static KINDS: LazyLock<HashMap<&str, (&str, &str)>> = LazyLock::new(|| {
            let lines = include_str!("../../table/kinds.txt").lines();
            let kind = |line: &'static str| {
                let (name, types) = line.split_once(' ').expect("`KIND small [large]`");
                (name, types.split_once(' ').unwrap_or((types, types)))
            };
            lines.map(kind).collect()
        });
        if let Some((name, callback)) = text.split_once('<') {
            return Kind::callback(name, callback.trim_end_matches('>'));
        }
        let (small, large) = match text {
            "VARARGS" => ("...", "..."),
            kind => *KINDS
                .get(kind)
                .unwrap_or_else(|| panic!("unknown parameter kind {kind}")),
        };
        Kind {
            name: text,
            small,
            large,
            function: small.ends_with("_function"),
        }
    }

    /// `FUNCTION<MPI_Comm_errhandler_function>`, and `POLYFUNCTION<...>` whose callback itself has a `_c` form.
    fn callback(name: &'static str, small: &'static str) -> Kind {
        let large = match (name, small) {
            ("POLYFUNCTION", "MPI_User_function") => "MPI_User_function_c",
            ("POLYFUNCTION", "MPI_Datarep_conversion_function") => {
                "MPI_Datarep_conversion_function_c"
            }
            ("POLYFUNCTION", other) => panic!("{other} has no large-count form"),
            _ => small,
        };
        Kind {
            name,
            small,
            large,
            function: true,
        }
    }
}
