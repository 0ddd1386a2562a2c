//! Which commands a shell script calls by name, which functions it defines, and what it sources: read
//! without a shell, and no more than a look. What depends on a variable isn't found.

mod commands;
mod reader;

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

    /// What parsers of bash stumble over: see ADR 3.
    #[test]
    fn commands_are_found_after_what_is_hard_to_read() {
        for text in [
            "x=$(case a in a) first ;; esac)\nlast\n",
            "x=$(cat <<E\nit's :)\nE\n)\nlast\n",
            "select x in a b; do first; break; done\nlast\n",
            "echo \"${x:-it's}\"\nlast\n",
            "case $x in a) first ;& *) second ;;& esac\nlast\n",
            "first \\\n  && \\\n  last\n",
        ] {
            let lines = text.lines().count();
            assert_eq!(
                Calls::of(text).commands.last(),
                Some(&("last".to_owned(), lines)),
                "{text}"
            );
        }
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
