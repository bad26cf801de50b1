//! One dummy argument of a procedure.

use weft_abi::table::{Direction, Function, Parameter};

use super::types::HANDLES;

pub const ADDRESS: &str = "integer(kind=MPI_ADDRESS_KIND)";
const COUNT: &str = "integer(kind=MPI_COUNT_KIND)";

pub struct Dummy {
    pub name: &'static str,
    pub of_type: String,
    attributes: &'static str,
    shape: String,
}

impl Dummy {
    pub fn of(function: &Function, parameter: &Parameter, large: bool) -> Dummy {
        Dummy {
            name: parameter.name,
            of_type: of_type(parameter, large),
            attributes: attributes(function, parameter),
            shape: shape(function, parameter),
        }
    }

    pub fn declared(&self) -> String {
        format!(
            "      {}{} :: {}{}\n",
            self.of_type, self.attributes, self.name, self.shape
        )
    }
}

fn of_type(parameter: &Parameter, large: bool) -> String {
    let c_type = parameter.c_type(large);
    match parameter.kind {
        "BUFFER" => "type(*), dimension(..)".to_string(),
        "C_BUFFER" | "C_BUFFER2" => "type(c_ptr)".to_string(),
        "EXTRA_STATE" | "ATTRIBUTE_VAL" => ADDRESS.to_string(),
        "FUNCTION" | "POLYFUNCTION" => format!("procedure({})", c_type.base),
        "STRING" | "STRING_ARRAY" | "STRING_2DARRAY" => "character(len=*)".to_string(),
        kind if kind.starts_with("LOGICAL") => "logical".to_string(),
        _ => match c_type.base {
            "MPI_Aint" => ADDRESS.to_string(),
            "MPI_Count" => COUNT.to_string(),
            "MPI_Offset" => "integer(kind=MPI_OFFSET_KIND)".to_string(),
            "MPI_Status" => "type(MPI_Status)".to_string(),
            other
                if HANDLES
                    .iter()
                    .any(|handle| other == format!("MPI_{handle}")) =>
            {
                format!("type({other})")
            }
            _ => "integer".to_string(),
        },
    }
}

fn attributes(function: &Function, parameter: &Parameter) -> &'static str {
    let lasts = lasts(function);
    let is_array = !parameter.c_type(false).array.is_empty();
    let endings = ["counts", "displs", "types"];
    let array = is_array
        && endings
            .iter()
            .any(|ending| parameter.name.ends_with(ending));
    match (parameter.kind, parameter.direction) {
        ("FUNCTION" | "POLYFUNCTION", _) => "",
        ("BUFFER", Direction::In) if parameter.c_type(false).constant && lasts => {
            ", intent(in), asynchronous"
        }
        ("BUFFER", Direction::In) if parameter.c_type(false).constant => ", intent(in)",
        ("BUFFER", _) if lasts => ", asynchronous",
        ("BUFFER", _) => "",
        // Where one of the special variables may stand nothing must be assumed to be stored.
        ("STATUS", Direction::Out) => "",
        _ if parameter.name == "array_of_errcodes" => "",
        ("WEIGHT", Direction::Out) => "",
        (_, Direction::In) if array && lasts => ", intent(in), asynchronous",
        (_, Direction::In) => ", intent(in)",
        (_, Direction::InOut) => ", intent(inout)",
        (_, Direction::Out)
            if function.name.starts_with("Comm_idup") && parameter.name == "newcomm" =>
        {
            ", intent(out), asynchronous"
        }
        (_, Direction::Out) => ", intent(out)",
    }
}

/// Whether the library may still use a buffer when the procedure has returned.
fn lasts(function: &Function) -> bool {
    let has = |kind: &str| {
        function
            .parameters
            .iter()
            .any(|parameter| parameter.kind == kind)
    };
    // The standard says so of no partitioned operation (MPI-5.0 §4.2).
    let partitioned = ["Psend_init", "Precv_init"].contains(&function.name);
    let makes_request = function
        .parameters
        .iter()
        .any(|parameter| parameter.kind == "REQUEST" && parameter.direction == Direction::Out);
    let kept = ["attach", "Free_mem", "Get_address", "_begin", "_end"];
    !partitioned
        && (makes_request || has("WINDOW") || kept.iter().any(|word| function.name.contains(word)))
}

fn shape(function: &Function, parameter: &Parameter) -> String {
    match (parameter.kind, parameter.c_type(false).array) {
        ("STRING", _) => String::new(),
        ("STRING_ARRAY", _) => "(*)".to_string(),
        ("STRING_2DARRAY", _) => format!("({}, *)", function.parameters[0].name),
        (_, "") => String::new(),
        (_, "[]") => "(*)".to_string(),
        (_, rows) => format!(
            "({}, *)",
            rows.trim_start_matches("[][").trim_end_matches(']')
        ),
    }
}
