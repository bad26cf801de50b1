//! The interfaces of a program's functions (MPI-5.0 §19.1.1).

const ADDRESS: &str = "integer(kind=MPI_ADDRESS_KIND)";

/// Kinds of objects that have attributes: the handle, its name in a copy function, its name in a delete function.
const ATTRIBUTED: [(&str, &str, &str, &str); 3] = [
    ("Comm", "oldcomm", "comm", "comm_keyval"),
    ("Type", "oldtype", "datatype", "type_keyval"),
    ("Win", "oldwin", "win", "win_keyval"),
];

pub fn interfaces() -> String {
    let mut text = String::from("\n  ! Functions of the program's\n  abstract interface\n");
    for suffix in ["", "_c"] {
        let kind = integer(suffix);
        text += &subroutine(
            &format!("MPI_User_function{suffix}"),
            "invec, inoutvec, len, datatype",
            &[
                "type(c_ptr), value :: invec, inoutvec",
                &format!("{kind} :: len"),
                "type(MPI_Datatype) :: datatype",
            ],
        );
    }
    for (name, old, object, keyval) in ATTRIBUTED {
        let handle = if name == "Type" { "Datatype" } else { name };
        text += &subroutine(
            &format!("MPI_{name}_copy_attr_function"),
            &format!(
                "{old}, {keyval}, extra_state, attribute_val_in, attribute_val_out, flag, ierror"
            ),
            &[
                &format!("type(MPI_{handle}) :: {old}"),
                &format!("integer :: {keyval}, ierror"),
                &format!("{ADDRESS} :: extra_state, attribute_val_in, attribute_val_out"),
                "logical :: flag",
            ],
        );
        text += &subroutine(
            &format!("MPI_{name}_delete_attr_function"),
            &format!("{object}, {keyval}, attribute_val, extra_state, ierror"),
            &[
                &format!("type(MPI_{handle}) :: {object}"),
                &format!("integer :: {keyval}, ierror"),
                &format!("{ADDRESS} :: attribute_val, extra_state"),
            ],
        );
    }
    for (handle, object) in [
        ("Comm", "comm"),
        ("File", "file"),
        ("Session", "session"),
        ("Win", "win"),
    ] {
        text += &subroutine(
            &format!("MPI_{handle}_errhandler_function"),
            &format!("{object}, error_code"),
            &[
                &format!("type(MPI_{handle}) :: {object}"),
                "integer :: error_code",
            ],
        );
    }
    for suffix in ["", "_c"] {
        let kind = integer(suffix);
        text += &subroutine(
            &format!("MPI_Datarep_conversion_function{suffix}"),
            "userbuf, datatype, count, filebuf, position, extra_state, ierror",
            &[
                "type(c_ptr), value :: userbuf, filebuf",
                "type(MPI_Datatype) :: datatype",
                &format!("{kind} :: count"),
                "integer(kind=MPI_OFFSET_KIND) :: position",
                &format!("{ADDRESS} :: extra_state"),
                "integer :: ierror",
            ],
        );
    }
    text += &subroutine(
        "MPI_Datarep_extent_function",
        "datatype, extent, extra_state, ierror",
        &[
            "type(MPI_Datatype) :: datatype",
            &format!("{ADDRESS} :: extent, extra_state"),
            "integer :: ierror",
        ],
    );
    let extra = format!("{ADDRESS} :: extra_state");
    for (name, dummies, declaration) in [
        (
            "query",
            "extra_state, status, ierror",
            Some("type(MPI_Status) :: status"),
        ),
        ("free", "extra_state, ierror", None),
        (
            "cancel",
            "extra_state, complete, ierror",
            Some("logical :: complete"),
        ),
    ] {
        let declarations: Vec<&str> = [extra.as_str(), "integer :: ierror"]
            .into_iter()
            .chain(declaration)
            .collect();
        text += &subroutine(
            &format!("MPI_Grequest_{name}_function"),
            dummies,
            &declarations,
        );
    }
    text += "  end interface\n\n";
    for (name, _, _, _) in ATTRIBUTED {
        let upper = name.to_uppercase();
        for word in ["NULL_COPY", "DUP"] {
            text +=
                &format!("  procedure(MPI_{name}_copy_attr_function) :: MPI_{upper}_{word}_FN\n");
        }
        text += &format!(
            "  procedure(MPI_{name}_delete_attr_function) :: MPI_{upper}_NULL_DELETE_FN\n"
        );
    }
    for suffix in ["", "_c"] {
        let upper = suffix.to_uppercase();
        text += &format!(
            "  procedure(MPI_Datarep_conversion_function{suffix}) :: MPI_CONVERSION_FN_NULL{upper}\n"
        );
    }
    text
}

/// A count in functions of that form.
fn integer(suffix: &str) -> &'static str {
    match suffix {
        "_c" => "integer(kind=MPI_COUNT_KIND)",
        _ => "integer",
    }
}

fn subroutine(name: &str, dummies: &str, declarations: &[&str]) -> String {
    let mut text = super::super::lines::statement(4, &format!("subroutine {name}({dummies})"));
    text += "      import\n";
    for declaration in declarations {
        text += &format!("      {declaration}\n");
    }
    text + "    end subroutine\n"
}
