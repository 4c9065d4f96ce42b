//! How the elements of a list begin where each begins on a line of its own: indent, bracket, and the
//! first key, which may stand on the next line.

/// Beginnings that are longer are none.
const LONG: usize = 200;

/// As many ways to begin are kept.
const WAYS: usize = 8;

/// The first key of the object that the bytes begin with, escapes untouched.
pub(in crate::ingest) fn first_key(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(b"{")?.trim_ascii_start().strip_prefix(b"\"")?;
    rest.get(..memchr::memchr(b'"', rest)?)
}

/// The key that the bytes begin with, its colon behind it.
pub(in crate::ingest) fn key(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.trim_ascii_start().strip_prefix(b"\"")?;
    let (key, rest) = rest.split_at_checked(memchr::memchr(b'"', rest)?)?;
    rest.get(1..)?.trim_ascii_start().starts_with(b":").then_some(key)
}

/// Follows the beginnings of lines.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Begins {
    state: State,
    line: Vec<u8>,
    /// Where the bracket is, in the line and in the file.
    brace: (usize, u64),
    known: Vec<Vec<u8>>,
    /// What is within an element begins as elements do: then lines say nothing.
    alike: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// The line does not begin an object.
    Other,
    #[default]
    Indent,
    /// After the bracket.
    Object,
    /// In the first key.
    Key,
}

impl Begins {
    /// Whether every byte counts.
    pub fn alive(&self) -> bool {
        self.state != State::Other
    }

    /// Whether elements are known that begin on lines of their own.
    pub fn any(&self) -> bool {
        !self.known.is_empty()
    }

    /// Moves over a byte; where a line begins with an object whose first key ends here, the place of its
    /// bracket.
    pub fn step(&mut self, byte: u8, at: u64) -> Option<u64> {
        if byte == b'\n' && self.state != State::Object {
            self.line.clear();
            self.state = State::Indent;
            return None;
        }
        self.state = match (self.state, byte) {
            (State::Other, _) => return None,
            (state @ (State::Indent | State::Object), b' ' | b'\t' | b'\r' | b'\n') => state,
            (State::Indent, b'{') => {
                self.brace = (self.line.len(), at);
                State::Object
            }
            (State::Object, b'"') | (State::Key, b'\0'..=b'!' | b'#'..=b'[' | b']'..) => State::Key,
            (State::Key, b'"') => {
                self.line.push(byte);
                self.state = State::Other;
                return Some(self.brace.1);
            }
            _ => State::Other,
        };
        self.line.push(byte);
        if self.line.len() > LONG {
            self.state = State::Other;
        }
        None
    }

    /// Whether this byte is the bracket that ends the list: at the beginning of a line that is indented no
    /// further than its elements.
    pub fn ends(&self, byte: u8) -> bool {
        let indent = self.line.len();
        let within = |known: &Vec<u8>| known.iter().position(|&b| b == b'{') >= Some(indent);
        byte == b']' && self.state == State::Indent && !self.alike && self.known.iter().any(within)
    }

    /// Keeps the beginning that has just been read, where it may be an element's: of `sure` ones the first
    /// says how far all are indented. Whether it may.
    pub fn learn(&mut self, sure: bool) -> bool {
        let indent = |line: &Vec<u8>| line.iter().position(|&b| b == b'{');
        let fits = match self.known.first() {
            Some(first) => indent(first) == Some(self.brace.0),
            None => sure,
        };
        if fits && self.known.len() < WAYS && !self.known.contains(&self.line) {
            self.known.push(self.line.clone());
        }
        fits
    }

    /// What has just been read is within an element.
    pub fn within(&mut self) {
        self.alike |= self.known.contains(&self.line);
    }

    /// Whether elements have begun before like what has just been read, and nothing else has.
    pub fn known(&self) -> bool {
        !self.alike && self.known.contains(&self.line)
    }

    /// What has just been read, from its bracket on.
    pub fn head(&self) -> &[u8] {
        self.line.get(self.brace.0..).unwrap_or_default()
    }
}
