//! Whether values stand where the brackets, commas and keys before them let them stand.
//!
//! Where a bracket is lost, what follows seems to be within the torn element, brackets and quotes go on
//! belonging together, and only the order of things tells: an object without a comma before it or without a
//! key in another object, a bracket that closes one of the other kind.

use crate::ingest::split::Token;

/// Brackets further within are not told apart.
const DEEP: usize = 512;

/// Follows the tokens of one value.
#[derive(Debug)]
pub(in crate::ingest) struct Order {
    /// The brackets that are open: `{` or `[`.
    open: Vec<u8>,
    /// How many are open beyond those.
    more: usize,
    last: Token,
    /// Something stands where it cannot.
    pub broken: bool,
}

impl Default for Order {
    fn default() -> Self {
        Self { open: Vec::new(), more: 0, last: Token::Comma, broken: false }
    }
}

impl Order {
    /// Within an object that has begun, after a key.
    pub fn within(&mut self) {
        *self = Self { open: vec![b'{'], last: Token::Quote, ..Self::default() };
    }

    /// Moves over a token; texts and white space say nothing.
    pub fn step(&mut self, token: Token, byte: u8, string: bool) {
        let odd = match (self.last, token) {
            (_, Token::Space | Token::Text) => return,
            (Token::Quote | Token::Bare | Token::Close, Token::Open | Token::Quote)
            | (Token::Quote | Token::Close, Token::Bare) => !self.open.is_empty(),
            (Token::Comma | Token::Open, Token::Open) => {
                self.more == 0 && self.open.last() == Some(&b'{')
            }
            _ => false,
        };
        let odd = match token {
            Token::Open if self.open.len() == DEEP => {
                self.more += 1;
                odd
            }
            Token::Open => {
                self.open.push(byte);
                odd
            }
            Token::Close if self.more > 0 => {
                self.more -= 1;
                odd
            }
            Token::Close => {
                let open = self.open.pop();
                odd || open.is_some_and(|open| (open == b'{') != (byte == b'}'))
            }
            _ => odd,
        };
        self.broken |= odd;
        self.last = if string { Token::Text } else { token };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::split::Scanner;

    fn broken(text: &str) -> bool {
        let (mut scanner, mut order) = (Scanner::default(), Order::default());
        for byte in text.bytes() {
            let token = scanner.step(byte);
            order.step(token, byte, scanner.string);
        }
        order.broken
    }

    #[test]
    fn what_is_json_is_in_order_and_so_is_what_is_cut() {
        for text in [
            r#"{"a":[1,-2.5e3,{"b":"x\"y"},[[]],{}],"c":null, "d":{"e":{}}}"#,
            r#"{"a":[NaN,None],"b":["#,
            r#"[{"a":1} , {"a":"{"}]"#,
        ] {
            assert!(!broken(text), "{text}");
        }
        assert!(
            !broken(&"[".repeat(2000))
                && !broken(&format!("{}{}", "[".repeat(2000), "]".repeat(2000)))
        );
    }

    #[test]
    fn a_bracket_that_is_lost_or_too_many_breaks_it() {
        for text in [
            r#"{"a":[1] {"a":[1]}"#,
            r#"{"a":[{"b":1,{"b":2}]}"#,
            r#"{"a":[1}"#,
            r#"{"a":{"b":1]}"#,
            r#"{"a":1 "b":2}"#,
            r#"{"a":1, 2026 INFO {"b":2"#,
            r#"{{"a":1}"#,
        ] {
            assert!(broken(text), "{text}");
        }
    }
}
