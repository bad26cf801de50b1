//! C types as the table can say them, in C and in Rust.

/// `const base **name[][3]`, without the name. `constant` qualifies the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CType {
    pub constant: bool,
    pub base: &'static str,
    /// Whether the base names a function type, which a pointer, or being a parameter, makes a callback.
    pub function: bool,
    pub pointers: usize,
    /// `""`, `"[]"` or `"[][N]"`.
    pub array: &'static str,
}

impl CType {
    /// The C declaration of the parameter `name`. An array is written as the pointer that it is: what is declared as an
    /// array gcc believes to have an element, and warns of `MPI_UNWEIGHTED`, and of the end of an array with a count of 0.
    pub fn declare(&self, name: &str) -> String {
        let constant = if self.constant { "const " } else { "" };
        let stars = "*".repeat(self.pointers);
        let declarator = match self.array.strip_prefix("[]") {
            None => format!("{stars}{name}"),
            Some("") => format!("{stars}*{name}"),
            Some(row) => format!("{stars}(*{name}){row}"),
        };
        format!("{constant}{} {declarator}", self.base)
    }

    /// The same type in Rust, with the names of this crate; an array parameter is the pointer it is in C.
    pub fn rust(&self) -> String {
        let mut base = match self.base {
            "void" if self.pointers > 0 => "c_void".to_string(),
            "void" => "()".to_string(),
            "int" => "c_int".to_string(),
            "char" => "c_char".to_string(),
            "double" => "f64".to_string(),
            named => named.to_string(),
        };
        // A callback type is a pointer already; C takes a parameter of a function type as one, too.
        let mut pointers = self.pointers.saturating_sub(usize::from(self.function));
        if let Some(row) = self.array.strip_prefix("[][") {
            base = format!("[{base}; {}]", row.trim_end_matches(']'));
        }
        if !self.array.is_empty() {
            pointers += 1;
        }
        // In C, `const` stands for the innermost type: only the pointer next to the base is a pointer to const.
        let inner = if self.constant { "*const " } else { "*mut " };
        match pointers {
            0 => base,
            levels => format!("{}{inner}{base}", "*mut ".repeat(levels - 1)),
        }
    }
}
