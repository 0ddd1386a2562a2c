//! Commands and their words: which word is the name of a command, and which commands are in a word.

use super::Calls;
use super::reader::Reader;

/// Words after which a command follows.
const BEFORE: [&str; 12] =
    ["if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "exec", "builtin"];

impl Calls {
    pub(in super::super) fn of(script: &str) -> Self {
        let mut reader = Reader::of(script);
        reader.commands(None);
        reader.calls
    }
}

impl Reader {
    /// Reads commands up to `end`, or to the end of the script.
    fn commands(&mut self, end: Option<char>) {
        self.nested(|reader| reader.read_commands(end));
    }

    fn read_commands(&mut self, end: Option<char>) {
        let (mut is_first, mut cases) = (true, 0_usize);
        while let Some(c) = self.peek(0) {
            if Some(c) == end {
                self.next();
                return;
            }
            match c {
                '\\' => self.skip_escaped(),
                ' ' | '\t' => drop(self.next()),
                '#' => self.skip_line(),
                ';' if self.starts(";;") || self.starts(";&") => {
                    while self.peek(0).is_some_and(|c| ";&".contains(c)) {
                        self.next();
                    }
                    if cases > 0 && self.pattern() {
                        cases -= 1;
                    }
                    is_first = true;
                }
                '\n' | ';' | '&' | '|' | ')' => {
                    self.next();
                    is_first = true;
                }
                '(' if self.starts("((") => self.skip_arithmetic(),
                '(' => {
                    self.next();
                    self.commands(Some(')'));
                    is_first = false;
                }
                '<' | '>' => self.redirection(),
                _ => {
                    let line = self.line();
                    let (word, is_plain) = self.word();
                    if !is_first {
                        continue;
                    }
                    is_first = self.first_word(&word, is_plain, line, &mut cases);
                }
            }
        }
    }

    /// Takes up the first word of a command. Returns whether the next word is one, too.
    fn first_word(&mut self, word: &str, is_plain: bool, line: usize, cases: &mut usize) -> bool {
        if is_assignment(word) {
            if self.peek(0) == Some('(') {
                self.next();
                self.skip_array();
            }
            return true;
        }
        match word {
            _ if !is_plain => return false,
            _ if BEFORE.contains(&word) => return true,
            "case" => {
                // What is looked at, and `in`.
                while let Some(' ' | '\t' | '\n') = self.peek(0) {
                    self.next();
                }
                self.word();
                while self.peek(0).is_some() && self.word().0 != "in" {
                    self.next();
                }
                if !self.pattern() {
                    *cases += 1;
                }
                return true;
            }
            "[[" => self.skip_to("]]"),
            "esac" => *cases = cases.saturating_sub(1),
            "function" => {
                self.blanks();
                let name = self.word().0;
                self.calls.functions.insert(name);
                if self.starts("()") {
                    self.at += 2;
                }
                return true;
            }
            "." | "source" => {
                self.blanks();
                let begin = self.at;
                self.word();
                let file: String = self.chars[begin..self.at].iter().collect();
                self.calls.sourced.push(file);
            }
            _ => {
                self.blanks();
                if self.starts("()") || self.starts("( )") {
                    self.at += if self.starts("()") { 2 } else { 3 };
                    self.calls.functions.insert(word.to_owned());
                    self.blanks();
                    return true;
                }
                self.calls.commands.push((word.to_owned(), line));
            }
        }
        false
    }

    /// Skips the pattern of a case. Returns whether the cases end here instead.
    fn pattern(&mut self) -> bool {
        loop {
            match self.peek(0) {
                Some(' ' | '\t' | '\n' | '(') => drop(self.next()),
                Some('#') => self.skip_line(),
                Some(_) => break,
                None => return true,
            }
        }
        if self.word().0 == "esac" {
            return true;
        }
        loop {
            match self.peek(0) {
                None => return true,
                Some(')') => {
                    self.next();
                    return false;
                }
                Some(' ' | '\t' | '|' | '\n' | '(' | '<' | '>' | '&' | ';') => drop(self.next()),
                Some(_) => drop(self.word()),
            }
        }
    }

    fn redirection(&mut self) {
        // <<< has a word, << the end of a document.
        let is_document = self.starts("<<") && !self.starts("<<<");
        while let Some('<' | '>' | '&' | '|' | '-') = self.peek(0) {
            self.next();
        }
        // <(…) and >(…)
        if self.peek(0) == Some('(') {
            self.next();
            return self.commands(Some(')'));
        }
        self.blanks();
        let begin = self.at;
        self.word();
        if is_document {
            let end =
                self.chars[begin..self.at].iter().filter(|c| !"'\"\\".contains(**c)).collect();
            self.here.push(end);
        }
    }

    /// Skips the values of an array.
    fn skip_array(&mut self) {
        while let Some(c) = self.peek(0) {
            match c {
                ')' => {
                    self.next();
                    return;
                }
                '#' => self.skip_line(),
                ' ' | '\t' | '\n' | '(' | ';' | '&' | '|' | '<' | '>' => drop(self.next()),
                _ => drop(self.word()),
            }
        }
    }

    /// Reads a word. Returns its text, and whether it is no more than that: without quotes and variables.
    fn word(&mut self) -> (String, bool) {
        let (mut text, mut is_plain) = (String::new(), true);
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '`' if self.in_backquotes => break,
                '\\' => {
                    is_plain = false;
                    self.skip_escaped();
                }
                '\'' => {
                    is_plain = false;
                    self.skip_single_quoted();
                }
                '"' => {
                    is_plain = false;
                    self.next();
                    self.quoted();
                }
                '$' | '`' => {
                    is_plain = false;
                    self.expansion(false);
                }
                c => {
                    text.push(c);
                    self.next();
                }
            }
        }
        (text, is_plain)
    }

    /// Reads the rest of a text in double quotes.
    fn quoted(&mut self) {
        while let Some(c) = self.peek(0) {
            match c {
                '"' => {
                    self.next();
                    return;
                }
                '\\' => self.skip_escaped(),
                '$' | '`' => self.expansion(true),
                _ => drop(self.next()),
            }
        }
    }

    /// Reads what begins with `$` or a backquote; in double quotes a single quote is a character.
    fn expansion(&mut self, is_quoted: bool) {
        self.nested(|reader| reader.read_expansion(is_quoted));
    }

    fn read_expansion(&mut self, is_quoted: bool) {
        match self.next() {
            Some('`') => {
                self.in_backquotes = true;
                self.commands(Some('`'));
                self.in_backquotes = false;
                return;
            }
            _ if self.starts("((") => return self.skip_arithmetic(),
            _ => {}
        }
        match self.peek(0) {
            Some('(') => {
                self.next();
                self.commands(Some(')'));
            }
            Some('{') => {
                self.next();
                self.braces(is_quoted);
            }
            // $'text', with escapes.
            Some('\'') if !is_quoted => {
                self.next();
                while let Some(c) = self.next() {
                    match c {
                        '\\' => drop(self.next()),
                        '\'' => return,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// Reads the rest of `${…}`.
    fn braces(&mut self, is_quoted: bool) {
        while let Some(c) = self.peek(0) {
            match c {
                '}' => {
                    self.next();
                    return;
                }
                '\\' => self.skip_escaped(),
                '"' => {
                    self.next();
                    self.quoted();
                }
                '\'' if !is_quoted => {
                    self.skip_single_quoted();
                }
                '$' | '`' => self.expansion(is_quoted),
                _ => drop(self.next()),
            }
        }
    }
}

/// Whether a command may follow: `NAME=value`, `NAME+=value`, `NAME[i]=value`.
fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.trim_end_matches('+');
    let name = name.split('[').next().unwrap_or_default();
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
