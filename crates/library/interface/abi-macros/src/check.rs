//! The signature against the table.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, FnArg, Ident, Pat, Result, Signature, Token};
use weft_abi::table::{self, Function};

/// The table's entry for `MPI_<name>`, if `signature` has its parameters by name and order. The types are left to
/// the compiler, which looks for `FromC` at each of them.
pub fn signature(name: &Ident, signature: &Signature) -> Result<&'static Function> {
    let function = named(name)?;
    let expected: Vec<&str> = function
        .parameters(true)
        .filter(|p| !p.is_varargs())
        .map(|p| p.name)
        .collect();
    let mut expected = expected.into_iter();
    for (at, argument) in signature.inputs.iter().enumerate() {
        let found = parameter_name(argument)?;
        match expected.next() {
            Some(right) if right == found => {}
            Some(right) => {
                let message = format!(
                    "parameter {} of MPI_{name} is `{right}`, not `{found}`",
                    at + 1
                );
                return Err(Error::new_spanned(argument, message));
            }
            None => {
                let message = format!("MPI_{name} has {at} parameters; `{found}` is one too many");
                return Err(Error::new_spanned(argument, message));
            }
        }
    }
    match expected.next() {
        None => Ok(function),
        Some(missing) => Err(Error::new_spanned(
            &signature.ident,
            format!("MPI_{name} has a parameter `{missing}` here"),
        )),
    }
}

/// Functions named in a macro's arguments: `Name, ...`.
pub struct Names(pub Vec<&'static Function>);

impl Parse for Names {
    fn parse(input: ParseStream) -> Result<Names> {
        let names = Punctuated::<Ident, Token![,]>::parse_terminated(input)?;
        names.iter().map(named).collect::<Result<_>>().map(Names)
    }
}

/// The function that `name` means.
fn named(name: &Ident) -> Result<&'static Function> {
    table::function_or_extension(&name.to_string()).ok_or_else(|| {
        Error::new(
            name.span(),
            format!("there is no function MPI_{name} in crates/library/interface/abi/table"),
        )
    })
}

/// A parameter's name, without the underscore that marks it unused.
fn parameter_name(argument: &FnArg) -> Result<String> {
    if let FnArg::Typed(typed) = argument
        && let Pat::Ident(pattern) = &*typed.pat
    {
        let name = pattern.ident.to_string();
        let name = name.strip_prefix("r#").unwrap_or(&name);
        return Ok(name.strip_prefix('_').unwrap_or(name).to_string());
    }
    Err(Error::new_spanned(
        argument,
        "a parameter of MPI is a plain name",
    ))
}

#[cfg(test)]
mod tests {
    use syn::{ItemFn, parse_str};

    use super::*;

    fn checked(name: &str, parameters: &str) -> std::result::Result<&'static str, String> {
        let body: ItemFn = parse_str(&format!("fn body({parameters}) {{}}")).unwrap();
        let found = signature(&parse_str(name).unwrap(), &body.sig);
        found
            .map(|function| function.name)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_standards_parameters_pass() {
        assert_eq!(checked("Comm_free", "comm: A"), Ok("Comm_free"));
        assert_eq!(checked("Comm_rank", "_comm: A, rank: B"), Ok("Comm_rank"));
        assert_eq!(checked("Pcontrol", "level: A"), Ok("Pcontrol"));
    }

    #[test]
    fn a_mistake_is_named() {
        let message = |name, parameters| checked(name, parameters).unwrap_err();
        assert_eq!(
            message("Comm_rank", "comm: A, size: B"),
            "parameter 2 of MPI_Comm_rank is `rank`, not `size`"
        );
        assert_eq!(
            message("Comm_rank", "comm: A"),
            "MPI_Comm_rank has a parameter `rank` here"
        );
        assert_eq!(
            message("Comm_free", "comm: A, rank: B"),
            "MPI_Comm_free has 1 parameters; `rank` is one too many"
        );
        assert_eq!(
            message("Comm_fre", "comm: A"),
            "there is no function MPI_Comm_fre in crates/library/interface/abi/table"
        );
        assert_eq!(
            message("Comm_free", "(comm, _): A"),
            "a parameter of MPI is a plain name"
        );
    }
}
