//! How a file begins: its outermost form and the keys of its first records, for sniffing.
//!
//! The bytes may be cut anywhere. Nothing is parsed here, only scanned.

use super::begins::first_key;
use super::reader::{Layout, NotRollouts};
use super::repair;
use super::scan::{self, Entry};

/// How many bytes of a file are looked at.
pub const HEAD: usize = 4 << 20;

/// How a file begins that stands for content which was not fetched.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// How many records are looked at: the first may be torn.
const RECORDS: usize = 8;

/// The beginning of a file.
#[derive(Debug)]
pub struct Shape<'a> {
    /// The file's name, without its folder.
    pub name: &'a str,
    bytes: &'a [u8],
    whole: bool,
    layout: Layout,
    records: Vec<RecordShape<'a>>,
}

/// The keys of one record, as far as they can be seen.
#[derive(Debug, Default)]
pub struct RecordShape<'a> {
    entries: Vec<Entry<'a>>,
    long: bool,
    torn: bool,
}

impl<'a> RecordShape<'a> {
    /// The bytes of a key's value; cut at the end of what was looked at.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&'a [u8]> {
        self.entries.iter().rev().find(|e| e.key == key.as_bytes()).map(|e| e.value)
    }

    /// Whether the key is there, whatever it holds.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// Whether any of the keys is there.
    #[must_use]
    pub fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|k| self.has(k))
    }

    /// Whether the key holds a list.
    #[must_use]
    pub fn list(&self, key: &str) -> bool {
        self.value(key).is_some_and(|v| v.starts_with(b"["))
    }

    /// Whether the key holds an object.
    #[must_use]
    pub fn object(&self, key: &str) -> bool {
        self.value(key).is_some_and(|v| v.starts_with(b"{"))
    }

    /// Whether the record is longer than what was looked at, or torn: further keys may follow.
    #[must_use]
    pub const fn cut(&self) -> bool {
        self.long || self.torn
    }

    /// Whether the record is longer than what was looked at.
    #[must_use]
    pub const fn long(&self) -> bool {
        self.long
    }

    /// The keys, in file order.
    pub fn keys(&self) -> impl Iterator<Item = &'a [u8]> {
        self.entries.iter().map(|e| e.key)
    }
}

impl<'a> Shape<'a> {
    /// Looks at the first bytes of a file; `whole` when they are the whole file.
    #[must_use]
    pub fn of(name: &'a str, bytes: &'a [u8], whole: bool) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let start = scan::skip_space(bytes, 0);
        let bytes = bytes.get(start..).unwrap_or_default();
        let layout = layout(bytes, whole);
        let mut shape = Self { name, bytes, whole, layout, records: Vec::new() };
        shape.records = shape.look();
        shape
    }

    /// The outermost form: lines, an array's elements, values, or one document.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// The first records; for an array its first elements.
    #[must_use]
    pub fn records(&self) -> &[RecordShape<'a>] {
        &self.records
    }

    /// Whether any of the first records is like this.
    pub fn any(&self, test: impl Fn(&RecordShape<'a>) -> bool) -> bool {
        self.records.iter().any(test)
    }

    fn look(&self) -> Vec<RecordShape<'a>> {
        let whole = self.whole;
        let object = |bytes: &'a [u8]| {
            let open = scan::value_end(bytes, 0).is_none();
            // Behind a text that is not closed further keys may follow as well.
            let torn = open && torn(bytes);
            RecordShape { entries: scan::entries(bytes), long: open && !whole && !torn, torn }
        };
        match self.layout {
            Layout::Lines => self
                .bytes
                .split(|&b| b == b'\n')
                .map(<[u8]>::trim_ascii)
                .filter(|l| l.starts_with(b"{"))
                .take(RECORDS)
                .map(object)
                .collect(),
            Layout::Document => vec![object(self.bytes)],
            Layout::Elements | Layout::Values => {
                let mut at = usize::from(self.layout == Layout::Elements);
                let mut found = Vec::new();
                while found.len() < RECORDS {
                    at = scan::skip_space(self.bytes, at);
                    if self.bytes.get(at) == Some(&b',') {
                        at = scan::skip_space(self.bytes, at + 1);
                    }
                    let end = scan::value_end(self.bytes, at);
                    let value = self.bytes.get(at..end.unwrap_or(self.bytes.len()));
                    match value {
                        Some(value) if value.starts_with(b"{") => found.push(object(value)),
                        _ => {}
                    }
                    let whole =
                        end.filter(|end| !torn(self.bytes.get(at..*end).unwrap_or_default()));
                    match whole.or_else(|| self.next_line_like(at)).or(end) {
                        Some(end) => at = end,
                        None => break,
                    }
                }
                found
            }
        }
    }

    /// The next line after `at` that begins an object as far indented as the line that `at` is on.
    fn next_line_like(&self, at: usize) -> Option<usize> {
        let before = self.bytes.get(..at)?;
        let line = memchr::memrchr(b'\n', before).map_or(0, |n| n + 1);
        let indent = before.get(line..)?;
        let mut sign = vec![b'\n'];
        sign.extend(indent);
        sign.push(b'{');
        let indented = indent.iter().all(|b| matches!(b, b' ' | b'\t'));
        let found = memchr::memmem::find(self.bytes.get(at..)?, &sign).filter(|_| indented)?;
        Some(at + found + sign.len() - 1)
    }

    /// What keeps the file from being read at all, before any format is asked.
    #[must_use]
    pub fn obstacle(&self) -> Option<NotRollouts> {
        let not = |what: &str, missing: &str, hint: &str| {
            Some(NotRollouts { what: what.into(), missing: missing.into(), hint: hint.into() })
        };
        let bytes = self.bytes;
        if bytes.is_empty() && self.whole {
            return not(
                "empty file",
                "it holds no record",
                "check that the run wrote it and has ended",
            );
        }
        if bytes.starts_with(POINTER) {
            return not(
                "Git LFS pointer",
                "the content itself is not in this checkout",
                "run `git lfs pull`, or download the file from where the repository is hosted",
            );
        }
        if bytes.starts_with(b"\x1f\x8b") {
            return not(
                "gzip file",
                "it has to be unpacked",
                "gunzip -k FILE, or `zcat FILE | credscope -`",
            );
        }
        if bytes.starts_with(b"\x28\xb5\x2f\xfd") {
            return not(
                "zstandard file",
                "it has to be unpacked",
                "unzstd FILE, or `zstdcat FILE | credscope -`",
            );
        }
        if bytes.starts_with(b"PK\x03\x04") {
            return not("zip archive", "no reader opens it", "unpack it and give the files in it");
        }
        if bytes.starts_with(b"\xfd7zXZ\0")
            || bytes.starts_with(b"7z\xbc\xaf")
            || bytes.starts_with(b"BZh")
        {
            return not(
                "xz, 7z or bzip2 archive",
                "gzip, zstandard, zip and tar are opened",
                "unpack it and give what is in it",
            );
        }
        if bytes.starts_with(b"PAR1") {
            return not(
                "Parquet file",
                "rollouts are read as JSON",
                "write it as JSON lines (pandas: to_json(orient='records', lines=True))",
            );
        }
        if let Some(order) = self.utf16() {
            return not(
                "UTF-16 text",
                "rollouts are read as UTF-8",
                &format!("iconv -f UTF-16{order} -t UTF-8 FILE > NEW"),
            );
        }
        // A zero byte in what begins as JSON costs its record only.
        let json = matches!(bytes, [b'{' | b'[', ..]);
        let head = bytes.get(..bytes.len().min(512)).unwrap_or_default();
        if !json && memchr::memchr(0, head).is_some() {
            return not("binary file", "rollouts are read as JSON", "give a .jsonl or .json file");
        }
        None
    }

    /// Whether it is text of two bytes a character; which is first, where no mark says so.
    fn utf16(&self) -> Option<&'static str> {
        let bytes = self.bytes;
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Some("");
        }
        // A bracket or a quote, and every other byte of what follows is zero.
        let zeros = |from: usize| {
            let some = bytes.get(from..bytes.len().min(16)).unwrap_or_default();
            some.len() > 3 && some.iter().step_by(2).all(|&b| b == 0)
        };
        match bytes {
            [b'{' | b'[', ..] if zeros(1) => Some("LE"),
            [0, b'{' | b'[', ..] if zeros(0) => Some("BE"),
            _ => None,
        }
    }

    /// Whether this key stands anywhere in it.
    #[must_use]
    pub fn names(&self, key: &str) -> bool {
        let quoted = format!("\"{key}\"");
        memchr::memmem::find(self.bytes, quoted.as_bytes()).is_some()
    }

    /// Whether the file is empty or stands for content that is elsewhere.
    #[must_use]
    pub fn lacks_content(&self) -> bool {
        let pointer = self.bytes.starts_with(POINTER);
        pointer || (self.bytes.is_empty() && self.whole)
    }

    /// The verdict when no reader knows the file.
    #[must_use]
    pub fn unknown(&self) -> NotRollouts {
        let hint = "see `credscope formats` for what is read, `--from FORMAT` to insist, and the native \
                    format `credscope/1` for the shortest thing to convert to";
        let keys: Vec<String> = self
            .records
            .first()
            .map(|r| {
                r.keys().take(8).map(|k| format!("`{}`", String::from_utf8_lossy(k))).collect()
            })
            .unwrap_or_default();
        let what = match (keys.is_empty(), self.bytes.first()) {
            (false, _) => format!("JSON with the keys {}", keys.join(", ")),
            (true, Some(b'{' | b'[')) => "JSON without objects that could be rollouts".to_owned(),
            _ => "no JSON".to_owned(),
        };
        NotRollouts {
            what,
            missing: "no known rollout format has this form".into(),
            hint: hint.into(),
        }
    }
}

/// The outermost form of a file.
///
/// A value over several lines is a document; else records stand on lines. A torn first line must not
/// turn a file of lines into a broken document, so a second line that is complete by itself decides.
fn layout(bytes: &[u8], whole: bool) -> Layout {
    let first_line = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
    let line_complete = scan::value_end(first_line, 0) == Some(first_line.trim_ascii_end().len());
    match bytes.first() {
        Some(b'[') => {
            let alone = first_line.len() < bytes.trim_ascii_end().len();
            if line_complete && alone { Layout::Lines } else { Layout::Elements }
        }
        Some(b'{') if line_complete => Layout::Lines,
        Some(b'{') => match scan::value_end(bytes, 0) {
            Some(end) if scan::skip_space(bytes, end) >= bytes.len() => Layout::Document,
            Some(end) if torn(bytes.get(..end).unwrap_or_default()) => torn_form(bytes),
            Some(end) if end <= first_line.len() && !values(first_line, end) => Layout::Lines,
            Some(_) => Layout::Values,
            None if follows_another(first_line) => Layout::Values,
            None if first_line.len() >= bytes.trim_ascii_end().len() => Layout::Lines,
            None if torn(bytes) => torn_form(bytes),
            None if whole && second_line_complete(bytes) => Layout::Lines,
            None => Layout::Document,
        },
        _ => Layout::Lines,
    }
}

/// Whether a line whose first value ends here may hold other values behind it: without a quote or a
/// bracket a value seems to end anywhere.
fn values(line: &[u8], end: usize) -> bool {
    let rest = line.get(end..).unwrap_or_default().trim_ascii();
    let next = matches!(rest, b"" | b"," | [b'{' | b'[', ..]);
    next && line.get(..end).is_some_and(repair::is_whole) || follows_another(line)
}

/// Whether an object that begins as the line does follows another one in it without a comma: in a text
/// its quotes would be escaped.
fn follows_another(line: &[u8]) -> bool {
    let Some(key) = first_key(line) else { return false };
    memchr::memchr_iter(b'{', line).any(|at| {
        let before = line.get(..at).unwrap_or_default().trim_ascii_end();
        before.ends_with(b"}") && line.get(at..).and_then(first_key) == Some(key)
    })
}

/// The form of what begins with a torn object: a first line that only opens a bracket begins a document,
/// or the first of several values.
fn torn_form(bytes: &[u8]) -> Layout {
    let first = bytes.split(|&b| b == b'\n').next().unwrap_or_default().trim_ascii_end();
    if !first.ends_with(b"{") && !first.ends_with(b"[") {
        Layout::Lines
    } else if memchr::memmem::find(bytes, b"\n{").is_some() && first == b"{" {
        Layout::Values
    } else {
        Layout::Document
    }
}

/// Whether a string runs over the end of a line, which no JSON writer does.
fn torn(bytes: &[u8]) -> bool {
    let mut at = 0;
    while let Some(open) = bytes.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
        let end = scan::string_end(bytes, at + open).unwrap_or(bytes.len());
        if bytes.get(at + open..end).is_some_and(|s| memchr::memchr(b'\n', s).is_some()) {
            return true;
        }
        at = end;
    }
    false
}

fn second_line_complete(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).filter(|l| !l.is_empty());
    // A line that ends by opening a list is the beginning of a document with an element per line.
    lines.next().is_some_and(|l| !l.ends_with(b"["))
        && lines
            .next()
            .is_some_and(|l| l.starts_with(b"{") && scan::value_end(l, 0) == Some(l.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout_of(text: &str) -> Layout {
        Shape::of("x", text.as_bytes(), true).layout()
    }

    #[test]
    fn outermost_forms() {
        assert_eq!(layout_of("{\"a\":1}\n{\"a\":2}\n"), Layout::Lines);
        assert_eq!(layout_of("{\"a\":1}"), Layout::Lines);
        assert_eq!(layout_of("{\n \"a\":1\n}\n"), Layout::Document);
        assert_eq!(layout_of("{\"r\":[\n{\"a\":1},\n{\"a\":NaN}\n]}\n"), Layout::Document);
        assert_eq!(layout_of("{\n\"a\":1\n}\n{\n\"a\":2\n}\n"), Layout::Values);
        assert_eq!(layout_of("[{\"a\":1},\n{\"a\":2}]"), Layout::Elements);
        assert_eq!(layout_of("[1,2]\n{\"a\":2}\n"), Layout::Lines);
        assert_eq!(layout_of("{\"a\":\"cut\n{\"a\":2}\n"), Layout::Lines);
        assert_eq!(layout_of("{\"a\":1,\n{\"a\":2}\n"), Layout::Lines);
        assert_eq!(layout_of("{\"r\":[\n{\"a\":2}\n"), Layout::Document);
        assert_eq!(layout_of("{\"r\":[\n{\"a\":\"x},\n{\"a\":2}\n]}"), Layout::Document);
        assert_eq!(layout_of("{\n\"a\":\"x,\n\"b\":1}\n{\n\"a\":2}\n"), Layout::Values);
        assert_eq!(layout_of("\u{feff}{\"a\":1}\r\n{\"a\":2}\r\n"), Layout::Lines);
    }

    #[test]
    fn obstacles_have_names() {
        let what = |bytes: &[u8]| Shape::of("x", bytes, true).obstacle().map(|n| n.what);
        assert_eq!(what(b" \n").as_deref(), Some("empty file"));
        assert_eq!(
            what(b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n").as_deref(),
            Some("Git LFS pointer")
        );
        for text in [&b"\xff\xfe{\0}\0"[..], b"{\0\"\0a\0\"\0", b"\0{\0\"\0a\0\""] {
            assert_eq!(what(text).as_deref(), Some("UTF-16 text"));
        }
        assert_eq!(what(b"\0\x01\x02\0").as_deref(), Some("binary file"));
        assert_eq!(what(b"{}"), None);
    }

    #[test]
    fn keys_of_elements_are_seen() {
        let shape = Shape::of("x", br#"[{"task_id":1,"traj":[]},{"b":2}]"#, true);
        assert_eq!(shape.records().len(), 2);
        assert!(shape.any(|r| r.has("task_id") && r.list("traj")));
    }
}
