//! One formula, two readings: over plain numbers for the table, over expression nodes for the
//! derivation. Both run the same operations in the same order, so they agree bit for bit.

use std::rc::Rc;

use super::derivation::{self, Expr, Node};
use super::stats;

/// Arithmetic that a formula is written in.
pub(super) trait Algebra {
    /// A number, with or without where it comes from.
    type Value: Clone;
    /// A number of a setting.
    fn number(&self, x: f64) -> Self::Value;
    /// A count.
    fn count(&self, n: usize) -> Self::Value;
    /// A number read from the data; `name` gives its name and its source.
    fn leaf(&self, x: f64, name: impl FnOnce() -> (String, String)) -> Self::Value;
    /// From left to right.
    fn sum(&self, terms: Vec<Self::Value>) -> Self::Value;
    /// The first of numbers that are all equal.
    fn equal(&self, terms: Vec<Self::Value>) -> Self::Value;
    /// `a - b`
    fn sub(&self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// `a * b`
    fn mul(&self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// `a / b`; no number where `b` is infinite.
    fn div(&self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// The square root.
    fn sqrt(&self, a: Self::Value) -> Self::Value;
    /// Gives an intermediate a name.
    fn named(&self, name: impl FnOnce() -> String, value: Self::Value) -> Self::Value;
    /// Gives an intermediate a name, but prints it as its own expression.
    fn inline(&self, name: impl FnOnce() -> String, value: Self::Value) -> Self::Value;
    /// The number.
    fn get(&self, value: &Self::Value) -> f64;

    /// The mean; equal numbers are their own mean. 0 for none.
    fn mean(&self, name: impl FnOnce() -> String, values: &[Self::Value]) -> Self::Value {
        let terms = values.to_vec();
        let mean = if values.is_empty() {
            self.number(0.0)
        } else if stats::uniform(&self.numbers(values)) {
            self.equal(terms)
        } else {
            self.div(self.sum(terms), self.count(values.len()))
        };
        self.named(name, mean)
    }

    /// The two-pass variance with `ddof` taken off the count; exactly 0 for equal numbers.
    fn variance(&self, values: &[Self::Value], mean: &Self::Value, ddof: usize) -> Self::Value {
        if stats::uniform(&self.numbers(values)) {
            return self.number(0.0);
        }
        let squares = values
            .iter()
            .map(|v| {
                let d = || self.sub(v.clone(), mean.clone());
                self.mul(d(), d())
            })
            .collect();
        let n = self.count(values.len());
        let below = if ddof == 0 { n } else { self.sub(n, self.count(ddof)) };
        self.div(self.sum(squares), below)
    }

    /// The square root of [`Algebra::variance`], named.
    fn std(&self, values: &[Self::Value], mean: &Self::Value, ddof: usize) -> Self::Value {
        self.named(|| "std".to_owned(), self.sqrt(self.variance(values, mean, ddof)))
    }

    /// A quotient whose divisor may be 0 where the formula has 0/0: then 0, by convention. Where the divisor
    /// alone is 0, a difference was too small to be squared, and the quotient is unknown.
    fn quotient(&self, a: Self::Value, b: Self::Value) -> Self::Value {
        let nothing = self.get(&a) == 0.0 && self.get(&b) == 0.0;
        if nothing { self.mul(a, self.number(0.0)) } else { self.div(a, b) }
    }

    /// The plain numbers.
    fn numbers(&self, values: &[Self::Value]) -> Vec<f64> {
        values.iter().map(|v| self.get(v)).collect()
    }
}

/// Numbers alone.
pub(super) struct Plain;

impl Algebra for Plain {
    type Value = f64;

    fn number(&self, x: f64) -> f64 {
        x
    }

    fn count(&self, n: usize) -> f64 {
        n as f64
    }

    fn leaf(&self, x: f64, _name: impl FnOnce() -> (String, String)) -> f64 {
        x
    }

    fn sum(&self, terms: Vec<f64>) -> f64 {
        stats::sum(&terms)
    }

    fn equal(&self, terms: Vec<f64>) -> f64 {
        terms.first().copied().unwrap_or(0.0)
    }

    fn sub(&self, a: f64, b: f64) -> f64 {
        a - b
    }

    fn mul(&self, a: f64, b: f64) -> f64 {
        a * b
    }

    fn div(&self, a: f64, b: f64) -> f64 {
        derivation::quotient(a, b)
    }

    fn sqrt(&self, a: f64) -> f64 {
        a.sqrt()
    }

    fn named(&self, _name: impl FnOnce() -> String, value: f64) -> f64 {
        value
    }

    fn inline(&self, _name: impl FnOnce() -> String, value: f64) -> f64 {
        value
    }

    fn get(&self, value: &f64) -> f64 {
        *value
    }
}

/// Numbers with where they come from.
pub(super) struct Traced;

impl Algebra for Traced {
    type Value = Expr;

    fn number(&self, x: f64) -> Expr {
        Expr::Number(x)
    }

    fn count(&self, n: usize) -> Expr {
        Expr::Count(n as u64)
    }

    fn leaf(&self, x: f64, name: impl FnOnce() -> (String, String)) -> Expr {
        let (name, source) = name();
        Expr::Named(Node::leaf(name, x, source))
    }

    fn sum(&self, terms: Vec<Expr>) -> Expr {
        Expr::Sum(terms)
    }

    fn equal(&self, terms: Vec<Expr>) -> Expr {
        Expr::Equal(terms)
    }

    fn sub(&self, a: Expr, b: Expr) -> Expr {
        Expr::minus(a, b)
    }

    fn mul(&self, a: Expr, b: Expr) -> Expr {
        Expr::times(a, b)
    }

    fn div(&self, a: Expr, b: Expr) -> Expr {
        Expr::over(a, b)
    }

    fn sqrt(&self, a: Expr) -> Expr {
        Expr::Sqrt(Box::new(a))
    }

    fn named(&self, name: impl FnOnce() -> String, value: Expr) -> Expr {
        Expr::Named(Node::new(name(), value))
    }

    fn inline(&self, name: impl FnOnce() -> String, value: Expr) -> Expr {
        Expr::Inline(Node::new(name(), value))
    }

    fn get(&self, value: &Expr) -> f64 {
        match value {
            Expr::Named(node) | Expr::Inline(node) => node.value,
            other => other.eval(),
        }
    }
}

/// The node of a whole expression.
pub(super) fn node(name: String, expr: Expr) -> Rc<Node> {
    match expr {
        Expr::Named(node) | Expr::Inline(node) => node,
        other => Node::new(name, other),
    }
}
