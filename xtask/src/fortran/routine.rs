//! One routine's interface.

use weft_abi::table::{Function, Parameter};

use super::lines::statement;

/// A dummy argument.
struct Dummy {
    name: &'static str,
    of_type: Type,
    dimension: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Choice,
    External,
    Plain(&'static str),
}

const ADDRESS: &str = "integer(kind=MPI_ADDRESS_KIND)";

/// The interface body of `function`, named `prefix` + its name + `suffix`. Where `pointer` is set, an address that C hands
/// out is a TYPE(C_PTR).
pub fn body(function: &Function, prefix: &str, suffix: &str, pointer: bool) -> String {
    let mut dummies: Vec<Dummy> = function
        .parameters(false)
        .filter(|parameter| !is_absent(parameter))
        .map(|parameter| dummy(function, parameter, pointer))
        .collect();
    let result = result_type(function);
    if result.is_none() && function.name != "Pcontrol" {
        dummies.push(Dummy {
            name: "ierror",
            of_type: Type::Plain("integer"),
            dimension: String::new(),
        });
    }
    let name = format!("{prefix}MPI_{}{suffix}", function.name);
    let word = if result.is_some() {
        "function"
    } else {
        "subroutine"
    };
    let names: Vec<&str> = dummies.iter().map(|dummy| dummy.name).collect();
    let mut text = statement(4, &format!("{word} {name}({})", names.join(", ")));
    text += "      import\n";
    if let Some(result) = result {
        text += &format!("      {result} :: {name}\n");
    }
    for dummy in &dummies {
        text += &declared(dummy);
    }
    text + &format!("    end {word}\n")
}

/// Compilers that do not know TYPE(*) with NO_ARG_CHECK know the other directive.
fn declared(dummy: &Dummy) -> String {
    let name = dummy.name;
    match dummy.of_type {
        Type::Choice => format!(
            "      type(*), dimension(*) :: {name}\n      !GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}\n      \
             !DIR$ IGNORE_TKR {name}\n"
        ),
        Type::External => format!("      external :: {name}\n"),
        Type::Plain(of_type) => format!("      {of_type} :: {name}{}\n", dummy.dimension),
    }
}

/// `argc`, `argv` and `...`.
fn is_absent(parameter: &Parameter) -> bool {
    parameter.is_varargs() || parameter.kind.starts_with("ARGUMENT_")
}

fn result_type(function: &Function) -> Option<&'static str> {
    match (function.returns_value(), function.returns) {
        (false, _) => None,
        (true, "double") => Some("double precision"),
        (true, _) => Some(ADDRESS),
    }
}

fn dummy(function: &Function, parameter: &Parameter, pointer: bool) -> Dummy {
    let c_type = parameter.c_type(false);
    let rows = match c_type.array {
        "" => String::new(),
        "[]" => "(*)".to_string(),
        rows => format!(
            "({}, *)",
            rows.trim_start_matches("[][").trim_end_matches(']')
        ),
    };
    let (of_type, dimension) = match parameter.kind {
        "BUFFER" | "C_BUFFER2" | "LOGICAL_VOID" => (Type::Choice, String::new()),
        "C_BUFFER" if pointer => (Type::Plain("type(c_ptr)"), rows),
        "C_BUFFER" | "EXTRA_STATE" | "ATTRIBUTE_VAL" => (Type::Plain(ADDRESS), rows),
        "EXTRA_STATE2" | "ATTRIBUTE_VAL_10" => (Type::Plain("integer"), rows),
        "FUNCTION" | "POLYFUNCTION" => (Type::External, String::new()),
        "STRING" => (Type::Plain("character(len=*)"), String::new()),
        "STRING_ARRAY" => (Type::Plain("character(len=*)"), "(*)".to_string()),
        "STRING_2DARRAY" => {
            let count = function
                .parameters(false)
                .next()
                .expect("it begins with its count");
            (
                Type::Plain("character(len=*)"),
                format!("({}, *)", count.name),
            )
        }
        "STATUS" if rows.is_empty() => (Type::Plain("integer"), "(MPI_STATUS_SIZE)".to_string()),
        "STATUS" => (Type::Plain("integer"), "(MPI_STATUS_SIZE, *)".to_string()),
        kind if kind.starts_with("LOGICAL") => (Type::Plain("logical"), rows),
        _ => (Type::Plain(number(c_type.base)), rows),
    };
    Dummy {
        name: parameter.name,
        of_type,
        dimension,
    }
}

/// A number or a handle.
fn number(c_type: &str) -> &'static str {
    match c_type {
        "MPI_Aint" => ADDRESS,
        "MPI_Count" => "integer(kind=MPI_COUNT_KIND)",
        "MPI_Offset" => "integer(kind=MPI_OFFSET_KIND)",
        _ => "integer",
    }
}
