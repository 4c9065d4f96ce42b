//! A small evaluator of arithmetic in Python syntax over f64, written apart from the product: numbers,
//! `+ - * /`, brackets, `sqrt(…)`.

pub fn eval(text: &str) -> f64 {
    let mut parser = Parser { rest: text.trim() };
    let value = parser.sum();
    assert!(parser.rest.trim().is_empty(), "left over: {:?} of {text:?}", parser.rest);
    value
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn take(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> f64 {
        let mut value = self.product();
        loop {
            if self.take("+") {
                value += self.product();
            } else if self.take("-") {
                value -= self.product();
            } else {
                return value;
            }
        }
    }

    fn product(&mut self) -> f64 {
        let mut value = self.factor();
        loop {
            if self.take("*") {
                value *= self.factor();
            } else if self.take("/") {
                value /= self.factor();
            } else {
                return value;
            }
        }
    }

    fn factor(&mut self) -> f64 {
        if self.take("-") {
            return -self.factor();
        }
        if self.take("sqrt(") {
            let value = self.sum();
            assert!(self.take(")"));
            return value.sqrt();
        }
        if self.take("(") {
            let value = self.sum();
            assert!(self.take(")"));
            return value;
        }
        self.rest = self.rest.trim_start();
        let bytes = self.rest.as_bytes();
        let mut end = 0;
        while end < bytes.len()
            && (bytes[end].is_ascii_digit()
                || bytes[end] == b'.'
                || bytes[end] == b'e'
                || ((bytes[end] == b'-' || bytes[end] == b'+')
                    && end > 0
                    && bytes[end - 1] == b'e'))
        {
            end += 1;
        }
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        number.parse().unwrap_or_else(|_| panic!("not a number: {number:?} before {rest:?}"))
    }
}

#[test]
fn the_evaluator_knows_precedence() {
    assert_eq!(eval("1 - 2 - 3"), -4.0);
    assert_eq!(eval("1.0 - (2*0.5 + 1e-6) / (2 + 2)"), 1.0 - (2.0 * 0.5 + 1e-6) / 4.0);
    assert_eq!(eval("sqrt(9.0) * -2"), -6.0);
}
