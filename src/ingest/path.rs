//! Where a scan is in a record: keys and places in lists, as `steps[3].args.cmd`.

use std::fmt;

/// A place in a record; brackets, commas and colons move it.
#[derive(Debug, Default)]
pub struct Path {
    levels: Vec<Level>,
}

#[derive(Debug)]
enum Level {
    /// The place in a list.
    List(usize),
    /// The key in an object, and whether one is due.
    Object { key: String, due: bool },
}

impl Path {
    /// Moves over a byte outside of texts.
    pub fn mark(&mut self, byte: u8) {
        match (byte, self.levels.last_mut()) {
            (b'{', _) => self.levels.push(Level::Object { key: String::new(), due: true }),
            (b'[', _) => self.levels.push(Level::List(0)),
            (b'}' | b']', _) => {
                self.levels.pop();
            }
            (b',', Some(Level::List(at))) => *at += 1,
            (b',', Some(Level::Object { due, .. })) => *due = true,
            _ => {}
        }
    }

    /// Moves over a text or a token; whether it is a key, where one is due.
    pub fn text(&mut self, text: &str) -> bool {
        let Some(Level::Object { key, due: due @ true }) = self.levels.last_mut() else {
            return false;
        };
        (*key, *due) = (super::json::short(text, 40).into_owned(), false);
        true
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, level) in self.levels.iter().enumerate() {
            match level {
                Level::List(nth) => write!(f, "[{nth}]")?,
                Level::Object { key, .. } if at == 0 => f.write_str(key)?,
                Level::Object { key, .. } => write!(f, ".{key}")?,
            }
        }
        Ok(())
    }
}
