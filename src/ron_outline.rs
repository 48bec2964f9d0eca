//! Where the values of a RON text stand: what serde does not tell.
//!
//! The reader of typed values (`ron`) decides whether a text is sound; this outline only finds the
//! place of a dotted key, for messages and for `--set`. It knows no types and no settings. A text that
//! it cannot follow has no outline, which costs a message its place and nothing else.

use std::{iter::Peekable, str::CharIndices};

/// Deeper nesting than this has no outline; `ron` itself refuses it.
const DEPTH_MAX: usize = 128;

/// One value and where it stands, in byte offsets of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// The byte after its opening bracket, when it has one.
    pub opening: Option<usize>,
    /// Whether that bracket is a parenthesis.
    pub parenthesis: bool,
    /// Its named parts.
    pub fields: Vec<Field>,
    /// Its unnamed parts.
    pub items: Vec<Self>,
}

/// A named part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its name.
    pub name: String,
    /// The first byte of the name.
    pub start: usize,
    /// Its value.
    pub value: Node,
}

/// How far a dotted key leads into a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reached<'outline> {
    /// The value that the key, or the longest beginning of it that exists, names.
    pub node: &'outline Node,
    /// The first byte of that value's name, or of the value when it has none.
    pub start: usize,
    /// How many parts of the key led there.
    pub parts: usize,
}

impl Node {
    /// The outline of a whole text, or nothing when it cannot be followed.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let mut scanner = Scanner {
            text,
            characters: text.char_indices().peekable(),
        };
        scanner.skip_blank()?;
        while scanner.peek() == Some('#') {
            scanner.skip_attribute()?;
            scanner.skip_blank()?;
        }
        let root = scanner.value(0)?;
        scanner.skip_blank()?;
        if scanner.peek().is_none() {
            Some(root)
        } else {
            None
        }
    }

    /// Follows a dotted key as far as it leads. List elements are named by number, and `Some(...)` is looked through.
    pub(crate) fn reach(&self, key: &str) -> Reached<'_> {
        let mut reached = Reached {
            node: self,
            start: self.start,
            parts: 0,
        };
        for part in key.split('.') {
            let node = reached.node.unwrapped();
            let next = match part.parse::<usize>() {
                Ok(index) => node.items.get(index).map(|item| (item, item.start)),
                Err(_) => node
                    .fields
                    .iter()
                    .find(|field| field.name == part)
                    .map(|field| (&field.value, field.start)),
            };
            let Some((node, start)) = next else { break };
            reached = Reached {
                node,
                start,
                parts: reached.parts.saturating_add(1),
            };
        }
        reached
    }

    /// The value inside `Some(...)` and the like: a bracket around one unnamed value, unless that is a plain one.
    pub(crate) fn unwrapped(&self) -> &Self {
        match self.items.as_slice() {
            [inner] if self.parenthesis && self.fields.is_empty() && inner.opening.is_some() => inner,
            _ => self,
        }
    }

    /// The dotted key of the innermost named value that holds this offset.
    pub(crate) fn key_at(&self, offset: usize) -> Option<String> {
        let mut key = String::new();
        let mut node = self;
        loop {
            let field = node
                .fields
                .iter()
                .find(|field| (field.start..=field.value.end).contains(&offset));
            let item = node
                .items
                .iter()
                .enumerate()
                .find(|(_, item)| (item.start..=item.end).contains(&offset));
            match (field, item) {
                (Some(field), _) => {
                    push_part(&mut key, &field.name);
                    node = &field.value;
                }
                (None, Some((index, item))) => {
                    // One unnamed value in a bracket without a number in its key is what `Some(...)` holds.
                    if node.items.len() > 1 {
                        push_part(&mut key, &index.to_string());
                    }
                    node = item;
                }
                (None, None) => break,
            }
        }
        if key.is_empty() { None } else { Some(key) }
    }
}

fn push_part(key: &mut String, part: &str) {
    if !key.is_empty() {
        key.push('.');
    }
    key.push_str(part);
}

struct Scanner<'text> {
    text: &'text str,
    characters: Peekable<CharIndices<'text>>,
}

impl Scanner<'_> {
    fn peek(&mut self) -> Option<char> {
        self.characters.peek().map(|&(_, character)| character)
    }

    fn offset(&mut self) -> usize {
        self.characters.peek().map_or(self.text.len(), |&(at, _)| at)
    }

    fn next(&mut self) -> Option<char> {
        self.characters.next().map(|(_, character)| character)
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        if depth > DEPTH_MAX {
            return None;
        }
        let start = self.offset();
        let mut node = match self.peek()? {
            '(' | '[' | '{' => self.group(depth)?,
            '"' => {
                self.string()?;
                Node::default()
            }
            '\'' => {
                self.character()?;
                Node::default()
            }
            _ => self.word_value(depth)?,
        };
        node.start = start;
        node.end = self.offset();
        Some(node)
    }

    /// A bracket with everything in it. A map's entries count as its items, keys and values alike.
    fn group(&mut self, depth: usize) -> Option<Node> {
        let open = self.next()?;
        let close = match open {
            '(' => ')',
            '[' => ']',
            _ => '}',
        };
        let mut node = Node {
            opening: Some(self.offset()),
            parenthesis: open == '(',
            ..Node::default()
        };
        loop {
            self.skip_blank()?;
            if self.peek()? == close {
                self.next();
                return Some(node);
            }
            let entry = self.value(depth.saturating_add(1))?;
            self.skip_blank()?;
            if self.peek()? == ':' {
                self.next();
                self.skip_blank()?;
                let name = self
                    .text
                    .get(entry.start..entry.end)?
                    .trim_start_matches("r#")
                    .to_owned();
                let value = self.value(depth.saturating_add(1))?;
                node.fields.push(Field {
                    name,
                    start: entry.start,
                    value,
                });
                self.skip_blank()?;
            } else {
                node.items.push(entry);
            }
            match self.peek()? {
                ',' => {
                    self.next();
                }
                character if character == close => {}
                _ => return None,
            }
        }
    }

    /// A number, a name, a name with a bracket, or a raw or byte string that starts like a name.
    fn word_value(&mut self, depth: usize) -> Option<Node> {
        let start = self.offset();
        while self
            .peek()
            .is_some_and(|character| character.is_alphanumeric() || "_.+-#".contains(character))
        {
            self.next();
        }
        let word = self.text.get(start..self.offset())?;
        let hashes = word.trim_start_matches(['b', 'r']);
        match self.peek() {
            Some('"') if hashes.is_empty() && word == "b" => self.string()?,
            Some('"') if hashes.bytes().all(|byte| byte == b'#') && word.contains('r') => {
                let hashes = hashes.len();
                self.raw_string(hashes)?;
            }
            Some('\'') if word == "b" => self.character()?,
            _ if word.is_empty() => return None,
            _ => {
                let end = self.characters.clone();
                self.skip_blank()?;
                if self.peek() == Some('(') {
                    return self.group(depth);
                }
                // The blank after a plain word is not part of it.
                self.characters = end;
            }
        }
        Some(Node::default())
    }

    fn string(&mut self) -> Option<()> {
        self.next();
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                '"' => return Some(()),
                _ => {}
            }
        }
    }

    fn raw_string(&mut self, hashes: usize) -> Option<()> {
        self.next();
        loop {
            while self.next()? != '"' {}
            let mut seen = 0;
            while seen < hashes && self.peek() == Some('#') {
                self.next();
                seen += 1;
            }
            if seen == hashes {
                return Some(());
            }
        }
    }

    fn character(&mut self) -> Option<()> {
        self.next();
        if self.next()? == '\\' {
            self.next()?;
        }
        while self.next()? != '\'' {}
        Some(())
    }

    fn skip_attribute(&mut self) -> Option<()> {
        while self.next()? != ']' {}
        Some(())
    }

    /// White space and comments; nothing when a comment does not end.
    fn skip_blank(&mut self) -> Option<()> {
        loop {
            let offset = self.offset();
            match self.peek() {
                Some(character) if character.is_whitespace() => {
                    self.next();
                }
                Some('/') if self.text.get(offset..)?.starts_with("//") => {
                    while self.peek().is_some_and(|character| character != '\n') {
                        self.next();
                    }
                }
                Some('/') if self.text.get(offset..)?.starts_with("/*") => self.skip_block_comment()?,
                _ => return Some(()),
            }
        }
    }

    fn skip_block_comment(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            let offset = self.offset();
            let rest = self.text.get(offset..)?;
            if rest.starts_with("/*") {
                depth = depth.saturating_add(1);
                self.next();
            } else if rest.starts_with("*/") {
                depth = depth.saturating_sub(1);
                self.next();
            }
            self.next()?;
            if depth == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r####"#![enable(implicit_some)]
// a comment with ( and "
Settings(
    name: "brackets ) and \" quotes", /* nested /* comment */ ) */
    raw: r#"a " quote ) "#,
    letter: ')',
    listen: ["0.0.0.0:1", "[::]:2"],
    auth: Some((resource: "login", providers: [(id: "a"), (id: "b")], more: [(id: "c")])),
    world: (time: (12, 0), clock: Running(1000), bounds: 20000.0),
    r#type: -1.5e3,
)
"####;

    fn text_of(key: &str) -> Option<&'static str> {
        let outline = Node::of_text(TEXT).unwrap();
        let reached = outline.reach(key);
        if reached.parts < key.split('.').count() {
            return None;
        }
        TEXT.get(reached.node.start..reached.node.end)
    }

    #[test]
    fn a_dotted_key_leads_to_its_value() {
        for (key, value) in [
            ("name", r#""brackets ) and \" quotes""#),
            ("raw", r##"r#"a " quote ) "#"##),
            ("letter", "')'"),
            ("listen.1", "\"[::]:2\""),
            ("auth.resource", "\"login\""),
            ("auth.providers.1.id", "\"b\""),
            ("auth.more.0.id", "\"c\""),
            ("world.time", "(12, 0)"),
            ("world.clock", "Running(1000)"),
            ("type", "-1.5e3"),
        ] {
            assert_eq!(text_of(key), Some(value), "{key}");
        }
        assert_eq!(text_of("world.weather"), None);
        assert_eq!(text_of("name.first"), None);
    }

    #[test]
    fn the_longest_known_beginning_of_a_key_is_reached() {
        let outline = Node::of_text(TEXT).unwrap();
        let reached = outline.reach("world.weather");
        assert_eq!(reached.parts, 1);
        assert!(TEXT[reached.start..].starts_with("world: (time"));
    }

    #[test]
    fn an_offset_leads_back_to_its_key() {
        let outline = Node::of_text(TEXT).unwrap();
        let key = |needle: &str| outline.key_at(TEXT.find(needle).unwrap());
        assert_eq!(key("20000.0").as_deref(), Some("world.bounds"));
        assert_eq!(key("\"b\"").as_deref(), Some("auth.providers.1.id"));
        assert_eq!(key("\"[::]:2\"").as_deref(), Some("listen.1"));
        assert_eq!(key("// a comment"), None);
    }

    #[test]
    fn what_cannot_be_followed_has_no_outline() {
        for text in [
            "",
            "(",
            "(a: 1",
            "(a: \"x)",
            "(a: 1))",
            "/* (a: 1)",
            "(a b)",
            "(a: )",
            "r#\"x\"",
        ] {
            assert_eq!(Node::of_text(text), None, "{text}");
        }
        assert_eq!(
            Node::of_text(&"(".repeat(100_000)),
            None,
            "no depth overflows the stack"
        );
    }
}
