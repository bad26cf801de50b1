//! The card of a process that is reached in several ways: the cards of all of them, with semicolons between.

use std::sync::Arc;

use weft_transport::{Directory, Peer};

/// Longer cards are shown in part.
const SHOWN: usize = 200;

/// The card made of one card for each way.
pub fn card(ways: &[String]) -> String {
    ways.join(";")
}

/// Finds a peer's card for one way: the part of its whole card that begins with the way's name.
pub struct Address {
    cards: Arc<dyn Directory>,
    way: &'static str,
}

impl Address {
    /// Of the way whose cards begin with `way`, in the whole cards that `cards` finds.
    pub fn new(cards: Arc<dyn Directory>, way: &'static str) -> Address {
        Address { cards, way }
    }
}

/// The part of a whole card that begins with `way`.
pub fn part<'a>(whole: &'a str, way: &str) -> Option<&'a str> {
    whole.split(';').find(|part| part.starts_with(way))
}

impl Directory for Address {
    fn card(&self, peer: Peer) -> Result<String, String> {
        let whole = self.cards.card(peer)?;
        match part(&whole, self.way) {
            Some(part) => Ok(part.to_owned()),
            None => {
                let shown: String = whole.chars().take(SHOWN).collect();
                Err(format!(
                    "its card has no address for {}: {shown:?}",
                    self.way
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(&'static str);

    impl Directory for Fixed {
        fn card(&self, peer: Peer) -> Result<String, String> {
            match peer {
                0 => Ok(self.0.to_owned()),
                _ => Err("it has no card".to_owned()),
            }
        }
    }

    fn find(whole: &'static str, way: &'static str) -> Result<String, String> {
        Address::new(Arc::new(Fixed(whole)), way).card(0)
    }

    #[test]
    fn each_way_finds_its_own() {
        let (near, far) = ("shm1:7:9:3:00", "tcp1:4000:00:10.0.0.1");
        let whole = card(&[near.to_owned(), far.to_owned()]);
        assert_eq!(whole, "shm1:7:9:3:00;tcp1:4000:00:10.0.0.1");
        let whole: &'static str = whole.leak();
        assert_eq!(find(whole, "shm").unwrap(), near);
        assert_eq!(find(whole, "tcp").unwrap(), far);
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = find("shm1:7:9:3:00", "tcp").unwrap_err();
        assert_eq!(error, "its card has no address for tcp: \"shm1:7:9:3:00\"");
        assert!(find("", "shm").is_err());
        let missing = Address::new(Arc::new(Fixed("")), "shm").card(1);
        assert_eq!(missing.unwrap_err(), "it has no card");
    }

    #[test]
    fn a_long_card_is_shown_in_part() {
        let whole: &'static str = "\u{e9}".repeat(10_000).leak();
        assert!(find(whole, "tcp").unwrap_err().chars().count() < SHOWN + 50);
    }
}
