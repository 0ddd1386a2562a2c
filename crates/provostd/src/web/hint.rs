//! A hint in pieces: plain text, and commands, which a page shows in the font of a terminal.

/// The programs whose commands hints name.
const PROGRAMS: [&str; 9] = [
    "provostctl",
    "provostd",
    "provost",
    "systemctl",
    "journalctl",
    "ssh",
    "dmesg",
    "mv",
    "nodeset",
];

/// A piece of a hint.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) is_command: bool,
    pub(super) text: String,
}

/// The pieces of `hint`, which together are its text. A command begins with a program after a colon, or at the
/// beginning, and ends before `;`, or before a comma with a blank.
pub(super) fn pieces(hint: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = hint;
    while let Some(begin) = begin(rest) {
        let (before, command) = rest.split_at(begin);
        let end = [";", ", "].iter().filter_map(|end| command.find(end)).min();
        let (command, after) = command.split_at(end.unwrap_or(command.len()));
        pieces.extend(piece(false, before));
        pieces.extend(piece(true, command));
        rest = after;
    }
    pieces.extend(piece(false, rest));
    pieces
}

/// Where the first command begins.
fn begin(text: &str) -> Option<usize> {
    let after_colon = text.match_indices(": ").map(|(at, colon)| at + colon.len());
    let is_program = |at: &usize| {
        let word = text[*at..].split([' ', ';', ',']).next();
        word.is_some_and(|word| PROGRAMS.contains(&word))
    };
    std::iter::once(0).chain(after_colon).find(is_program)
}

fn piece(is_command: bool, text: &str) -> Option<Piece> {
    (!text.is_empty()).then(|| Piece { is_command, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_words() {
        let shown = |hint: &str| -> Vec<String> {
            let pieces = pieces(hint).into_iter();
            pieces.map(|p| if p.is_command { format!("<{}>", p.text) } else { p.text }).collect()
        };
        let hint =
            "on cn001: see all its output: provost log x; fix it, then: provost boot --continue";
        let expected = [
            "on cn001: see all its output: ",
            "<provost log x>",
            "; fix it, then: ",
            "<provost boot --continue>",
        ];
        assert_eq!(shown(hint), expected);
        assert_eq!(shown("provostctl why cn1"), ["<provostctl why cn1>"]);
        // Of a program that is only talked about there is nothing to type.
        for plain in
            ["provostd's user may write", "check the file server", "look at provost there", ""]
        {
            assert_eq!(shown(plain).concat(), plain);
        }
        let hint = "check the daemon's log: journalctl -u provostd";
        assert_eq!(shown(hint)[1], "<journalctl -u provostd>");
    }
}
