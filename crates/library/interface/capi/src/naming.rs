//! The standard's name for the argument that an error is about.
//!
//! Below this crate an error names what an argument is, `datatype: not committed`, since one check serves many functions. Here
//! that becomes the parameter of the function that was called: `sendtype`.

use weft_error::Error;

/// The error with the argument named as in a function of these `parameters`: the table's, `KIND name,KIND name,...`.
pub fn as_in(error: Error, parameters: &str) -> Error {
    let name = error.argument.as_deref();
    match name.and_then(|role| named(role, error.buffer, parameters)) {
        Some(name) => error.of_argument(name),
        None => error,
    }
}

/// The name of what has a role; none if that is a parameter's name already, or nothing that the function has.
fn named(role: &str, side: Option<&str>, parameters: &str) -> Option<String> {
    let parameters = || parameters.split(',').filter_map(|one| one.split_once(' '));
    if parameters().any(|(_, name)| name == role) {
        return None;
    }
    let is_meant = of_role(role)?;
    let all: Vec<&str> = parameters()
        .filter(|(kind, _)| is_meant(kind))
        .map(|(_, name)| name)
        .collect();
    let mut names = all.clone();
    if let Some(side) = side {
        names.retain(|name| name.starts_with(side));
    }
    let names = if names.is_empty() { all } else { names };
    (!names.is_empty()).then(|| names.join(" or "))
}

/// Which kinds of parameters a role may mean.
fn of_role(role: &str) -> Option<fn(&str) -> bool> {
    Some(match role {
        "buf" => |kind| kind == "BUFFER",
        "comm" => |kind| kind == "COMMUNICATOR",
        "count" | "counts" => |kind| kind.contains("NUM_ELEM"),
        "datatype" => |kind| kind == "DATATYPE",
        "dest" | "rank" | "source" => |kind| kind.starts_with("RANK"),
        "group" => |kind| kind == "GROUP",
        "info" => |kind| kind == "INFO",
        "keyval" => |kind| kind == "KEYVAL",
        "op" => |kind| kind == "OPERATION",
        "request" => |kind| kind == "REQUEST",
        "recvtag" | "sendtag" | "tag" => |kind| kind == "TAG",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::named;

    const ONE: &str =
        "BUFFER buffer,POLYXFER_NUM_ELEM_NNI count,DATATYPE datatype,RANK root,COMMUNICATOR comm";
    const TWO: &str = "BUFFER sendbuf,POLYXFER_NUM_ELEM_NNI sendcount,DATATYPE sendtype,BUFFER recvbuf,\
        POLYXFER_NUM_ELEM_NNI recvcounts,DATATYPE recvtype,COMMUNICATOR comm";

    #[test]
    fn a_parameter_keeps_its_name() {
        assert_eq!(named("count", None, ONE), None);
        assert_eq!(named("datatype", Some("send"), ONE), None);
    }

    #[test]
    fn a_role_becomes_the_parameter_of_its_kind() {
        let name = |message, side, parameters| named(message, side, parameters).unwrap();
        assert_eq!(name("buf", None, ONE), "buffer");
        assert_eq!(name("buf", Some("recv"), TWO), "recvbuf");
        assert_eq!(name("datatype", Some("send"), TWO), "sendtype");
        assert_eq!(name("counts", Some("recv"), TWO), "recvcounts");
        assert_eq!(
            name("tag", None, "TAG sendtag,TAG recvtag"),
            "sendtag or recvtag"
        );
        assert_eq!(
            name("keyval", Some("send"), "KEYVAL comm_keyval"),
            "comm_keyval"
        );
    }

    #[test]
    fn what_names_no_parameter_stays() {
        assert_eq!(named("of several requests one failed: x", None, TWO), None);
        assert_eq!(named("keyval", None, TWO), None);
        assert_eq!(named("nothing to divide", None, TWO), None);
        assert_eq!(named("comm", None, ""), None);
    }
}
