//! Reads a script character by character, and skips what has no commands.

use super::Calls;

/// So deep may substitutions be nested. What is deeper isn't read.
const DEEPEST: usize = 50;

#[derive(Default)]
pub(super) struct Reader {
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    line: usize,
    depth: usize,
    pub(super) in_backquotes: bool,
    /// The ends of the here-documents that begin after this line.
    pub(super) here: Vec<String>,
    pub(super) calls: Calls,
}

impl Reader {
    pub(super) fn of(script: &str) -> Self {
        Self { chars: script.chars().collect(), line: 1, ..Self::default() }
    }

    /// Which line it is at.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Reads what is one level deeper.
    pub(super) fn nested(&mut self, read: impl FnOnce(&mut Self)) {
        self.depth += 1;
        if self.depth > DEEPEST {
            self.at = self.chars.len();
        }
        read(self);
        self.depth -= 1;
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        if c == '\n' {
            self.line += 1;
            for end in std::mem::take(&mut self.here) {
                self.skip_document(&end);
            }
        }
        Some(c)
    }

    pub(super) fn starts(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(i, c)| self.peek(i) == Some(c))
    }

    /// Skips a backslash and what it escapes.
    pub(super) fn skip_escaped(&mut self) {
        self.next();
        self.next();
    }

    /// Skips a text in single quotes.
    pub(super) fn skip_single_quoted(&mut self) {
        self.next();
        while self.next().is_some_and(|c| c != '\'') {}
    }

    pub(super) fn blanks(&mut self) {
        while let Some(' ' | '\t') = self.peek(0) {
            self.next();
        }
    }

    pub(super) fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.next();
        }
    }

    pub(super) fn skip_to(&mut self, end: &str) {
        while self.peek(0).is_some() && !self.starts(end) {
            self.next();
        }
        self.at = (self.at + end.len()).min(self.chars.len());
    }

    fn skip_document(&mut self, end: &str) {
        while self.at < self.chars.len() {
            let line: String = self.chars[self.at..].iter().take_while(|c| **c != '\n').collect();
            self.at = (self.at + line.chars().count() + 1).min(self.chars.len());
            self.line += 1;
            if line.trim_start_matches('\t') == end {
                return;
            }
        }
    }

    /// Skips `((…))`.
    pub(super) fn skip_arithmetic(&mut self) {
        let mut open = 0_usize;
        while let Some(c) = self.next() {
            match c {
                '(' => open += 1,
                ')' if open == 1 => return,
                ')' => open = open.saturating_sub(1),
                _ => {}
            }
        }
    }
}
