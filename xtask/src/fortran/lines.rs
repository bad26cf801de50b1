//! Lines of free source form.

const WIDTH: usize = 110;

/// A statement on lines of at most WIDTH columns, broken behind commas.
pub fn statement(indent: usize, text: &str) -> String {
    let margin = " ".repeat(indent);
    let mut lines = margin.clone();
    let mut column = indent;
    let mut pieces = text.split_inclusive(", ").peekable();
    while let Some(piece) = pieces.next() {
        let ampersand = if pieces.peek().is_some() { 1 } else { 0 };
        if column > indent && column + piece.trim_end().len() + ampersand > WIDTH {
            lines += "&\n";
            lines += &margin;
            lines += "    ";
            column = indent + 4;
        }
        lines += piece;
        column += piece.len();
    }
    lines + "\n"
}
