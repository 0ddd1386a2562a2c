//! Which commands a shell script calls by name, which functions it defines, and what it sources: read
//! without a shell, and no more than a look. What depends on a variable isn't found.

use std::collections::BTreeSet;

/// What stands in a script.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Calls {
    /// Each command that is called by a plain name, with its line.
    pub(super) commands: Vec<(String, usize)>,
    /// The functions that it defines.
    pub(super) functions: BTreeSet<String>,
    /// The arguments of `.` and `source`, as they are written.
    pub(super) sourced: Vec<String>,
}

impl Calls {
    pub(super) fn of(script: &str) -> Self {
        let mut reader = Reader { chars: script.chars().collect(), line: 1, ..Reader::default() };
        reader.commands(None);
        reader.calls
    }
}

/// Words after which a command follows.
const BEFORE: [&str; 12] =
    ["if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "exec", "builtin"];

/// So deep may substitutions be nested. What is deeper isn't read.
const DEEPEST: usize = 50;

#[derive(Default)]
struct Reader {
    chars: Vec<char>,
    at: usize,
    line: usize,
    depth: usize,
    in_backquotes: bool,
    /// The ends of the here-documents that begin after this line.
    here: Vec<String>,
    calls: Calls,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
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

    fn starts(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(i, c)| self.peek(i) == Some(c))
    }

    /// Reads commands up to `end`, or to the end of the script.
    fn commands(&mut self, end: Option<char>) {
        self.depth += 1;
        if self.depth > DEEPEST {
            self.at = self.chars.len();
        }
        self.read_commands(end);
        self.depth -= 1;
    }

    fn read_commands(&mut self, end: Option<char>) {
        let (mut is_first, mut cases) = (true, 0_usize);
        while let Some(c) = self.peek(0) {
            if Some(c) == end {
                self.next();
                return;
            }
            match c {
                '\\' => {
                    self.next();
                    self.next();
                }
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
                    let line = self.line;
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

    /// Reads a word. Returns its text, and whether it is no more than that: without quotes and variables.
    fn word(&mut self) -> (String, bool) {
        let (mut text, mut is_plain) = (String::new(), true);
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '`' if self.in_backquotes => break,
                '\\' => {
                    is_plain = false;
                    self.next();
                    self.next();
                }
                '\'' => {
                    is_plain = false;
                    self.next();
                    while self.next().is_some_and(|c| c != '\'') {}
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
                '\\' => {
                    self.next();
                    self.next();
                }
                '$' | '`' => self.expansion(true),
                _ => drop(self.next()),
            }
        }
    }

    /// Reads what begins with `$` or a backquote; in double quotes a single quote is a character.
    fn expansion(&mut self, is_quoted: bool) {
        self.depth += 1;
        if self.depth > DEEPEST {
            self.at = self.chars.len();
        }
        self.read_expansion(is_quoted);
        self.depth -= 1;
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
                '\\' => {
                    self.next();
                    self.next();
                }
                '"' => {
                    self.next();
                    self.quoted();
                }
                '\'' if !is_quoted => {
                    self.next();
                    while self.next().is_some_and(|c| c != '\'') {}
                }
                '$' | '`' => self.expansion(is_quoted),
                _ => drop(self.next()),
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

    fn skip_to(&mut self, end: &str) {
        while self.peek(0).is_some() && !self.starts(end) {
            self.next();
        }
        self.at = (self.at + end.len()).min(self.chars.len());
    }

    /// Skips `((…))`.
    fn skip_arithmetic(&mut self) {
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

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.next();
        }
    }

    fn blanks(&mut self) {
        while let Some(' ' | '\t') = self.peek(0) {
            self.next();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_and_text_is_not() {
        let calls = Calls::of(
            r##"#!/bin/bash
# skips nothing
usage() {
    cat <<'END'
skips the node
    warns: "it
END
}
. "${0%/*}/helper.sh"
x=(skips $(inner) warns) y=1 first || second && ! third; fourth &
case $when in
change | once) fifth ;;
skips)
    sixth "$(seventh "a $(eighth)" `ninth x`) skips" 'skips
skips'
    ;;
*) tenth
esac
if [[ $x = a && warns = b ]]; then eleventh; fi
for a in skips warns; do twelfth; done <<<"x" >skips
echo "${x:-it's}" ${y#'}'} $(( (1 + 2) * 3 )) | thirteenth     skips
function own { :; }
fourteenth <<-A <<"B"
	skips
	A
skips
B
"$x" skips
last
"##,
        );
        let found: Vec<_> = calls.commands.iter().map(|(name, _)| name.as_str()).collect();
        let numbers = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh \
            twelfth thirteenth fourteenth last";
        let expected: Vec<_> = numbers.split_whitespace().collect();
        let own: Vec<_> = found
            .iter()
            .filter(|name| !["cat", "inner", "for", "done", "}", "fi", "echo", ":"].contains(name))
            .copied()
            .collect();
        assert_eq!(own, expected, "{calls:?}");
        assert_eq!(calls.commands.last(), Some(&("last".to_owned(), 29)));
        assert_eq!(calls.sourced, ["\"${0%/*}/helper.sh\""]);
        assert_eq!(calls.functions.iter().collect::<Vec<_>>(), ["own", "usage"]);
    }

    #[test]
    fn what_is_cut_off_or_nested_deeply_ends() {
        for text in
            ["$(", "case x in", "case x in a", "\"", "'", "`", "${", "x=(", "cat <<E", "[[", "(("]
        {
            Calls::of(text);
            Calls::of(&text.repeat(100_000));
        }
    }
}
