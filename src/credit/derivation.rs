//! Why a number is what it is: an expression tree with the numbers in it.
//!
//! Evaluating a [`Node`] repeats the column's own operations in the same order, so that the result
//! is the column's value bit for bit. Its printed form is Python syntax over f64.

use std::fmt::Write as _;
use std::rc::Rc;

/// An expression over f64.
#[derive(Debug, Clone)]
pub enum Expr {
    /// A number that stands in the data or in a setting.
    Number(f64),
    /// A count; printed without a decimal point.
    Count(u64),
    /// A named intermediate, printed as its value.
    Named(Rc<Node>),
    /// A named intermediate, printed as its own expression.
    Inline(Rc<Node>),
    /// A sum from left to right.
    Sum(Vec<Self>),
    /// Numbers that are all equal: their mean is the first one itself, without a rounding residue.
    Equal(Vec<Self>),
    /// A difference.
    Sub(Box<Self>, Box<Self>),
    /// A product.
    Mul(Box<Self>, Box<Self>),
    /// A quotient.
    Div(Box<Self>, Box<Self>),
    /// A square root.
    Sqrt(Box<Self>),
}

/// A named number with the expression it comes from.
#[derive(Debug, Clone)]
pub struct Node {
    /// What it is, in the field's notation: `Q(s,a)`, `V(s)`, `mean R`.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Where it comes from.
    pub expr: Expr,
    /// For a leaf: the rollout and step it is read from, `rollout:step` or `rollout`.
    pub source: Option<String>,
}

impl Node {
    /// A node; its value is the expression's.
    #[must_use]
    pub fn new(name: impl Into<String>, expr: Expr) -> Rc<Self> {
        Rc::new(Self { name: name.into(), value: expr.eval(), expr, source: None })
    }

    /// A leaf: a number read from a rollout (and a step of it).
    #[must_use]
    pub fn leaf(name: impl Into<String>, value: f64, source: impl Into<String>) -> Rc<Self> {
        Rc::new(Self {
            name: name.into(),
            value,
            expr: Expr::Number(value),
            source: Some(source.into()),
        })
    }

    /// The value, computed again from the leaves up.
    #[must_use]
    pub fn eval(&self) -> f64 {
        self.expr.eval()
    }

    /// The expression in Python syntax; named intermediates stand as their values.
    #[must_use]
    pub fn expression(&self) -> String {
        let mut text = String::new();
        self.expr.print(&mut text, 0);
        text
    }

    /// The named intermediates directly below, in order of first use.
    #[must_use]
    pub fn children(&self) -> Vec<Rc<Self>> {
        let mut found = Vec::new();
        self.expr.collect(&mut found);
        found
    }

    /// All leaves' sources, in order, each once.
    #[must_use]
    pub fn sources(&self) -> Vec<String> {
        fn walk(node: &Node, found: &mut Vec<String>) {
            if let Some(source) = &node.source
                && !found.contains(source)
            {
                found.push(source.clone());
            }
            for child in node.children() {
                walk(&child, found);
            }
        }
        let mut found = Vec::new();
        walk(self, &mut found);
        found
    }
}

impl Expr {
    /// `a - b`
    #[must_use]
    pub fn minus(a: Self, b: Self) -> Self {
        Self::Sub(Box::new(a), Box::new(b))
    }

    /// `a * b`
    #[must_use]
    pub fn times(a: Self, b: Self) -> Self {
        Self::Mul(Box::new(a), Box::new(b))
    }

    /// `a / b`
    #[must_use]
    pub fn over(a: Self, b: Self) -> Self {
        Self::Div(Box::new(a), Box::new(b))
    }

    /// The value.
    #[must_use]
    pub fn eval(&self) -> f64 {
        match self {
            Self::Number(x) => *x,
            Self::Count(n) => *n as f64,
            Self::Named(node) | Self::Inline(node) => node.eval(),
            Self::Sum(terms) => {
                terms.iter().map(Self::eval).reduce(|acc, x| acc + x).unwrap_or(0.0)
            }
            Self::Equal(terms) => terms.first().map_or(0.0, Self::eval),
            Self::Sub(a, b) => a.eval() - b.eval(),
            Self::Mul(a, b) => a.eval() * b.eval(),
            Self::Div(a, b) => quotient(a.eval(), b.eval()),
            Self::Sqrt(a) => a.eval().sqrt(),
        }
    }

    /// `level`: 0 anything may stand bare, 1 inside a difference's right side, 2 inside a product.
    fn print(&self, out: &mut String, level: u8) {
        let bracket = match self {
            Self::Sum(terms) => terms.len() > 1 && level >= 1,
            Self::Sub(..) => level >= 1,
            Self::Mul(..) | Self::Div(..) => level >= 3,
            _ => false,
        };
        if bracket {
            out.push('(');
        }
        match self {
            Self::Number(x) => out.push_str(&number(*x)),
            Self::Count(n) => {
                let _ = write!(out, "{n}");
            }
            Self::Named(node) => out.push_str(&number(node.value)),
            Self::Inline(node) => {
                if bracket {
                    node.expr.print(out, 0);
                } else {
                    node.expr.print(out, level);
                }
            }
            Self::Sum(terms) => {
                for (i, term) in terms.iter().enumerate() {
                    if i > 0 {
                        out.push_str(" + ");
                    }
                    term.print(out, u8::from(i > 0));
                }
                if terms.is_empty() {
                    out.push_str("0.0");
                }
            }
            Self::Equal(terms) => match terms.first() {
                Some(term) => term.print(out, level),
                None => out.push_str("0.0"),
            },
            Self::Sub(a, b) => {
                a.print(out, 0);
                out.push_str(" - ");
                b.print(out, 1);
            }
            Self::Mul(a, b) => {
                a.print(out, 2);
                out.push('*');
                b.print(out, 3);
            }
            Self::Div(a, b) => {
                a.print(out, 2);
                out.push_str(" / ");
                b.print(out, 3);
            }
            Self::Sqrt(a) => {
                out.push_str("sqrt(");
                a.print(out, 0);
                out.push(')');
            }
        }
        if bracket {
            out.push(')');
        }
    }

    fn collect(&self, found: &mut Vec<Rc<Node>>) {
        match self {
            Self::Number(_) | Self::Count(_) => {}
            Self::Named(node) | Self::Inline(node) => {
                if !found.iter().any(|known| Rc::ptr_eq(known, node)) {
                    found.push(Rc::clone(node));
                }
            }
            Self::Sum(terms) | Self::Equal(terms) => {
                for term in terms {
                    term.collect(found);
                }
            }
            Self::Sub(a, b) | Self::Mul(a, b) | Self::Div(a, b) => {
                a.collect(found);
                b.collect(found);
            }
            Self::Sqrt(a) => a.collect(found),
        }
    }
}

/// `a / b`. A divisor that is infinite has overflowed: what it would give is unknown, and never 0.
pub(super) fn quotient(a: f64, b: f64) -> f64 {
    if b.is_infinite() { f64::NAN } else { a / b }
}

/// A number as the shortest decimal that reads back as the same f64.
#[must_use]
pub fn number(x: f64) -> String {
    serde_json::Number::from_f64(x).map_or_else(|| "nan".to_owned(), |n| n.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_keeps_the_order_of_operations() {
        let v = Node::new(
            "V",
            Expr::over(Expr::Sum(vec![Expr::Number(0.1), Expr::Number(0.2)]), Expr::Count(2)),
        );
        let a = Node::new(
            "A",
            Expr::minus(
                Expr::Number(1.0),
                Expr::over(
                    Expr::Sum(vec![
                        Expr::times(Expr::Count(2), Expr::Named(Rc::clone(&v))),
                        Expr::times(Expr::Number(2.0), Expr::Number(0.5)),
                    ]),
                    Expr::Sum(vec![Expr::Count(2), Expr::Number(2.0)]),
                ),
            ),
        );
        assert_eq!(v.expression(), "(0.1 + 0.2) / 2");
        assert_eq!(a.expression(), "1.0 - (2*0.15000000000000002 + 2.0*0.5) / (2 + 2.0)");
        assert_eq!(a.value, 1.0 - (2.0 * 0.150_000_000_000_000_02 + 2.0 * 0.5) / 4.0);
    }

    #[test]
    fn quotients_of_quotients_keep_their_brackets() {
        let e = Node::new(
            "e",
            Expr::over(Expr::Number(8.0), Expr::over(Expr::Number(4.0), Expr::Number(2.0))),
        );
        assert_eq!(e.expression(), "8.0 / (4.0 / 2.0)");
        let f = Node::new(
            "f",
            Expr::times(Expr::minus(Expr::Number(1.0), Expr::Number(2.0)), Expr::Number(3.0)),
        );
        assert_eq!(f.expression(), "(1.0 - 2.0)*3.0");
    }
}
