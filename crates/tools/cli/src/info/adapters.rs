//! Which RDMA adapters ranks would use, and why not others.

use weft_rdma::{Found, Selection, Use, survey};

/// Names the adapters that ranks are to use.
const ADAPTERS: &str = "WEFT_ADAPTERS";

/// A line for each port.
pub fn text() -> String {
    let named = std::env::var(ADAPTERS).unwrap_or_default();
    let named = named.parse::<Selection>();
    let found = named.and_then(|named| survey(&named).map_err(|why| why.to_string()));
    match found {
        Err(why) => format!("{:<22} none: {why}\n", "RDMA adapters"),
        Ok(found) if found.is_empty() => format!("{:<22} none\n", "RDMA adapters"),
        Ok(found) => lines(&found),
    }
}

fn lines(found: &[(Found, Use)]) -> String {
    let mut text = format!("{:<22} by name and port\n", "RDMA adapters");
    for (port, use_) in found {
        let gigabits = f64::from(port.speed_mbit) / 1000.0;
        let speed = format!("{gigabits} Gbit/s");
        text += &format!("  {:<20} {speed:<25} {use_}\n", port.to_string());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_port_has_a_line() {
        let port = |port, speed_mbit, use_| {
            let found = Found {
                device: "mlx5_0".to_owned(),
                port,
                is_up: true,
                link_layer: 1,
                speed_mbit,
            };
            (found, use_)
        };
        let text = lines(&[port(1, 200_000, Use::Used), port(2, 2_500, Use::Slower)]);
        let expected = "\
RDMA adapters          by name and port
  mlx5_0:1             200 Gbit/s                used
  mlx5_0:2             2.5 Gbit/s                not used: others are faster
";
        assert_eq!(text, expected);
    }
}
