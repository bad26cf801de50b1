//! One generic procedure with its specific ones (MPI-5.0 §19.1.5).

use weft_abi::table::{Function, Parameter};

use super::super::lines::statement;
use super::dummy::{ADDRESS, Dummy};

/// The generic interface of `function`, for counts of default INTEGER and for large ones. Procedures tell no forms apart, so
/// that the large form with them has a name of its own.
pub fn interface(function: &Function, prefix: &str) -> String {
    let name = function.name;
    let mut text = format!("\n  interface {prefix}MPI_{name}\n");
    text += &specific(function, prefix, false);
    if function.has_large_f08() {
        let takes_procedure = function
            .parameters
            .iter()
            .any(|parameter| parameter.kind == "POLYFUNCTION");
        if takes_procedure {
            text += &format!("  end interface\n\n  interface {prefix}MPI_{name}_c\n");
        }
        text += &specific(function, prefix, true);
    }
    text + "  end interface\n"
}

fn specific(function: &Function, prefix: &str, large: bool) -> String {
    let dummies = dummies(function, large);
    let name = format!("{}{}", function.name, if large { "_c" } else { "" });
    let mut names: Vec<&str> = dummies.iter().map(|dummy| dummy.name).collect();
    let mut declarations: String = dummies.iter().map(Dummy::declared).collect();
    if function.returns_value() {
        let of_type = if function.returns == "double" {
            "double precision"
        } else {
            ADDRESS
        };
        return format!(
            "    function {prefix}MPI_{name}_f08({}) result(answer)\n      import\n{declarations}      \
             {of_type} :: answer\n    end function\n",
            names.join(", ")
        );
    }
    if function.name != "Pcontrol" {
        names.push("ierror");
        declarations += "      integer, optional, intent(out) :: ierror\n";
    }
    body(
        prefix,
        &name,
        &names.join(", "),
        function.has_buffer(),
        &declarations,
    )
}

/// A subroutine's interface body; `bound` says whether a choice buffer makes it BIND(C).
pub fn body(prefix: &str, name: &str, dummies: &str, bound: bool, declarations: &str) -> String {
    let suffix = if bound { "_f08ts" } else { "_f08" };
    let specific = format!("{prefix}MPI_{name}{suffix}");
    let binding = match bound {
        true => format!(", bind(C, name=\"{}_\")", specific.to_lowercase()),
        false => String::new(),
    };
    let (head, tail) = (format!("subroutine {specific}({dummies})"), binding);
    let mut text = statement(4, &(head + &tail.replacen(", ", " ", 1)));
    text += "      import\n";
    for line in declarations.lines() {
        text += &format!("      {}\n", line.trim_start());
    }
    text + "    end subroutine\n"
}

fn dummies(function: &Function, large: bool) -> Vec<Dummy> {
    let has = |parameter: &&Parameter| {
        !(parameter.is_varargs() || parameter.kind.starts_with("ARGUMENT_"))
    };
    function
        .parameters(large)
        .filter(has)
        .map(|parameter| Dummy::of(function, parameter, large))
        .collect()
}
