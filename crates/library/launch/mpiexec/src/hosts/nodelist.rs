//! Slurm's short forms: `node[01-03,7],login` for names, `2(x3),1` for a number on each.

/// More hosts than any machine has; a list that comes to more is not one.
const HOSTS_MAX: usize = 1 << 20;

/// The names that a list stands for; `None` when it is malformed.
pub fn expand(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for item in split_outside_brackets(text)? {
        expand_item(item, &mut names)?;
    }
    Some(names)
}

/// One number a host, from `COUNT` and `COUNT(xTIMES)`, separated by commas.
pub fn expand_counts(text: &str) -> Option<Vec<u32>> {
    let mut counts = Vec::new();
    for item in text.split(',') {
        let (count, times) = match item.split_once("(x") {
            Some((count, times)) => (count, times.strip_suffix(')')?.parse::<usize>().ok()?),
            None => (item, 1),
        };
        let count: u32 = count.parse().ok().filter(|&count| count > 0)?;
        if times == 0 || times > HOSTS_MAX - counts.len() {
            return None;
        }
        counts.extend(std::iter::repeat_n(count, times));
    }
    Some(counts)
}

/// The items between commas that stand in no brackets.
fn split_outside_brackets(text: &str) -> Option<Vec<&str>> {
    let mut items = Vec::new();
    let (mut start, mut inside) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' if inside => return None,
            b'[' => inside = true,
            b']' if !inside => return None,
            b']' => inside = false,
            b',' if !inside => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&text[start..]);
    (!inside && items.iter().all(|item| !item.is_empty())).then_some(items)
}

/// A name with any number of brackets, each of which stands for its numbers in turn.
fn expand_item(item: &str, names: &mut Vec<String>) -> Option<()> {
    let mut partial = vec![String::new()];
    let mut rest = item;
    while let Some((before, bracket)) = rest.split_once('[') {
        let (inside, after) = bracket.split_once(']')?;
        let numbers = expand_ranges(inside)?;
        if partial.len().checked_mul(numbers.len())? + names.len() > HOSTS_MAX {
            return None;
        }
        partial = partial
            .iter()
            .flat_map(|front| {
                numbers
                    .iter()
                    .map(move |number| format!("{front}{before}{number}"))
            })
            .collect();
        rest = after;
    }
    names.extend(partial.into_iter().map(|name| name + rest));
    Some(())
}

/// `01-03,7`: the digits of the first number say how many zeros stand in front.
fn expand_ranges(text: &str) -> Option<Vec<String>> {
    let mut numbers = Vec::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(first) || !is_number(last) {
            return None;
        }
        let (low, high): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if low > high || high - low >= HOSTS_MAX - numbers.len() {
            return None;
        }
        let width = first.len();
        numbers.extend((low..=high).map(|number| format!("{number:0width$}")));
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn expands_names() {
        for (text, names) in [
            ("a", "a"),
            ("a,b", "a b"),
            ("host[1-3]", "host1 host2 host3"),
            ("n[08-11,7]x,login", "n08x n09x n10x n11x n7x login"),
            ("r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"),
        ] {
            let expected: Vec<&str> = names.split(' ').collect();
            assert_eq!(expand(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_list() {
        for text in [
            "",
            ",",
            "a,",
            "a[",
            "a]",
            "a[]",
            "a[1-]",
            "a[2-1]",
            "a[x]",
            "a[[1]]",
            "a[1]]",
            "a[0-99999999999]",
            "a[0-1999999]",
            "a[1-2000]b[1-2000]",
        ] {
            assert_eq!(expand(text), None, "{text}");
        }
    }

    #[test]
    fn expands_counts() {
        assert_eq!(expand_counts("2(x3),1"), Some(vec![2, 2, 2, 1]));
        assert_eq!(expand_counts("16"), Some(vec![16]));
        for text in [
            "",
            "0",
            "2(x",
            "2(x0)",
            "2x3",
            "1(x99999999)",
            "1,1(x18446744073709551615)",
            ",",
        ] {
            assert_eq!(expand_counts(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-c0-9,\\[\\]x()-]{0,24}") {
            if let Some(names) = expand(&text) {
                prop_assert!(names.len() <= HOSTS_MAX);
            }
            let _ = expand_counts(&text);
        }
    }
}
