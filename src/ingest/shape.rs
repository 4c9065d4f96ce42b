//! How a file begins: its outermost form and the keys of its first records, for sniffing.
//!
//! The bytes may be cut anywhere. Nothing is parsed here, only scanned.

use super::form;
use super::pointer;
use super::reader::{Layout, NotRollouts};
use super::scan::{self, Entry};
use super::tears::fault;

/// How many bytes of a file are looked at.
pub const HEAD: usize = 4 << 20;

/// How many whole records are looked at, and as many torn ones besides.
const RECORDS: usize = 8;

/// Behind as many torn ones no whole one is looked for.
const TORN: usize = 64;

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
#[derive(Debug, Clone, Default)]
pub struct RecordShape<'a> {
    entries: Vec<Entry<'a>>,
    long: bool,
    torn: bool,
}

impl<'a> RecordShape<'a> {
    /// Looks at a record; `ended` where it does not go on behind these bytes, `whole` where they reach to
    /// the end of the file.
    fn of(bytes: &'a [u8], ended: bool, whole: bool) -> Self {
        let open = scan::value_end(bytes, 0).is_none();
        let Some(fault) = fault::fault(bytes) else {
            let (long, torn) = (open && !ended && !whole, open && ended);
            return Self { entries: scan::entries(bytes), long, torn };
        };
        // What stands before the fault and what is in order behind it tells what it was. A word that is
        // none has its key.
        let bare = bytes.get(fault).is_some_and(|b| !b"{}[]\",:".contains(b));
        let end = scan::value_end(bytes, fault).filter(|_| bare).unwrap_or(fault);
        let mut entries = scan::entries(bytes.get(..end).unwrap_or_default());
        entries.extend(fault::entries_behind(bytes, fault));
        Self { entries, long: false, torn: true }
    }

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

    /// Whether the record is torn: a quote, a bracket or its end is missing.
    #[must_use]
    pub const fn torn(&self) -> bool {
        self.torn
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
        let layout = form::layout(bytes, whole);
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

    /// The same file by its whole records alone; `None` where no record is torn, or all are.
    #[must_use]
    pub fn sure(&self) -> Option<Self> {
        let whole: Vec<_> = self.records.iter().filter(|r| !r.torn).cloned().collect();
        let some = !whole.is_empty() && whole.len() < self.records.len();
        some.then_some(Self { records: whole, ..*self })
    }

    fn look(&self) -> Vec<RecordShape<'a>> {
        let (mut found, mut torn, mut whole) = (Vec::new(), 0, 0);
        let mut take = |bytes: &'a [u8], ended: bool| {
            let record = RecordShape::of(bytes, ended, self.whole);
            let count = if record.torn { &mut torn } else { &mut whole };
            *count += 1;
            if *count <= RECORDS {
                found.push(record);
            }
            whole < RECORDS && torn < TORN
        };
        match self.layout {
            Layout::Lines => {
                let mut lines = self.bytes.split(|&b| b == b'\n').peekable();
                while let Some(line) = lines.next() {
                    let line = line.trim_ascii();
                    if line.starts_with(b"{") && !take(line, lines.peek().is_some()) {
                        break;
                    }
                }
            }
            Layout::Document => {
                take(self.bytes, false);
            }
            Layout::Elements | Layout::Values => self.values(&mut take),
        }
        found
    }

    /// Hands over the objects of a list, or those that stand one after the other, as long as more are
    /// wanted; with each whether the next one begins behind it.
    fn values(&self, take: &mut dyn FnMut(&'a [u8], bool) -> bool) {
        let mut at = usize::from(self.layout == Layout::Elements);
        loop {
            at = scan::skip_space(self.bytes, at);
            if self.bytes.get(at) == Some(&b',') {
                at = scan::skip_space(self.bytes, at + 1);
            }
            let rest = self.bytes.get(at..).unwrap_or_default();
            let end = scan::value_end(rest, 0);
            let value = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let next = match fault::fault(value) {
                Some(_) => self.next_behind(at),
                // Deeper ones stand further to the right: what begins as far left is the next.
                None if end.is_none() => self.next_line_like(at, 1),
                None => None,
            };
            let next = next.filter(|&next| next > at);
            let value = next.map_or(value, |next| rest.get(..next - at).unwrap_or_default());
            if value.starts_with(b"{") && !take(value.trim_ascii_end(), next.is_some()) {
                return;
            }
            match next.or(end.map(|end| at + end)) {
                Some(next) => at = next,
                None => return,
            }
        }
    }

    /// Where the next value is behind the torn one that begins here.
    fn next_behind(&self, at: usize) -> Option<usize> {
        let list = self.layout == Layout::Elements;
        let behind = || fault::list_behind(self.bytes, at, !self.whole).filter(|_| list);
        self.next_line_like(at, 0).or_else(behind)
    }

    /// The next line after `at` that begins an object as far indented as the line that `at` is on, which is
    /// at `least` so far.
    fn next_line_like(&self, at: usize, least: usize) -> Option<usize> {
        let before = self.bytes.get(..at)?;
        let line = memchr::memrchr(b'\n', before).map_or(0, |n| n + 1);
        let indent = before.get(line..)?;
        let mut sign = vec![b'\n'];
        sign.extend(indent);
        sign.push(b'{');
        let indented = indent.iter().all(|b| matches!(b, b' ' | b'\t')) && indent.len() >= least;
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
        if self.is_pointer() {
            return Some(pointer::file());
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

    /// Whether it stands for content that was not fetched; records behind it are records all the same.
    fn is_pointer(&self) -> bool {
        pointer::begins(self.bytes) && !self.any(|r| !r.torn())
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
        let pointer = self.is_pointer();
        pointer || (self.bytes.is_empty() && self.whole)
    }

    /// The verdict when no reader knows the file.
    #[must_use]
    pub fn unknown(&self) -> NotRollouts {
        let hint = "see `credscope formats` for what is read, `--from FORMAT` to insist, and the native \
                    format `credscope/1` for the shortest thing to convert to";
        let keys: Vec<String> = self
            .records
            .iter()
            .find(|r| !r.torn)
            .or(self.records.first())
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

#[cfg(test)]
mod tests {
    use super::*;

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
