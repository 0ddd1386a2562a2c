//! How far a bash script can be watched without its seeing it.

use super::script::{Language, Script, is_flag, words};
use crate::step::Step;

/// The one-letter options of a first line with which bash reads `BASH_ENV` and doesn't show it.
const OPTIONS: &str = "befhkmuxBCEH";
/// The named ones.
const NAMED: &[&str] =
    &["errexit", "errtrace", "nounset", "noclobber", "noglob", "pipefail", "xtrace"];
/// What makes bash behave otherwise before it reads `BASH_ENV`.
const VARIABLES: &[&str] = &["BASHOPTS", "BASH_XTRACEFD", "POSIXLY_CORRECT", "SHELLOPTS"];
/// Commands and variables that are others in a function.
const OF_FUNCTIONS: &[&str] =
    &["BASH_SOURCE", "declare", "local", "return", "set", "shift", "typeset"];

/// How many descriptors a script has at least that doesn't notice those of its traps.
const DESCRIPTORS: u32 = 32;

/// What to watch: `functions` as well as what is outside of them, calls of `exit`, and of `trap` for
/// ERR and EXIT; `own` says that the script may trap ERR, `exec` that another program may take its
/// place. None if nothing: it isn't a bash script, or
/// it would see it.
pub(crate) fn watch(script: &Script, step: &Step) -> Option<String> {
    if script.language != Language::Bash
        || !are_harmless(&script.options)
        || step.env.iter().any(|(name, _)| VARIABLES.contains(&name.as_str()))
    {
        return None;
    }
    let parts = script.parts(&step.folder);
    let own = match step.env.iter().rfind(|(name, _)| name == "BASH_ENV") {
        None => None,
        // What bash makes of another value isn't that simple.
        Some((_, file)) if !file.contains('/') || file.contains(['$', '`', '~', '\\']) => {
            return None;
        }
        Some((_, file)) => Script::read(&step.folder.join(file)),
    };
    let files: Vec<&Script> = std::iter::once(script).chain(&parts.files).chain(&own).collect();
    if files.iter().any(|file| sees_all(file)) {
        return None;
    }
    let any = |test: &dyn Fn(&Script) -> bool| files.iter().any(|file| test(file));
    let mut watched = Vec::new();
    // With errtrace its own trap would be called where it isn't; and each `$(COMMAND)` costs one
    // more fork.
    let functions = !parts.all || any(&Script::has_functions);
    if functions && !any(&|file| traps(file, "ERR")) {
        watched.push("functions");
    }
    let is_traced = |file: &Script| {
        step.xtrace
            || file.sets('x', "xtrace")
            || file.options.iter().any(|o| is_flag(o, 'x') || o == "xtrace")
    };
    // In its own EXIT trap, it could see that `exit` is a function.
    let looks = |file: &Script| {
        file.has_word(&["BASH_COMMAND", "BASH_LINENO", "FUNCNAME", "caller"]) || is_traced(file)
    };
    let own_exit = any(&|file| traps(file, "EXIT") || traps(file, "0"));
    let sees_stack = own_exit && any(&looks);
    let sees_functions = any(&shows_functions);
    if !sees_stack && !sees_functions && !any(&needs_no_function) {
        watched.push("exit");
    }
    // A file that isn't known may trap RETURN, which would be called for our function as well.
    let sees_trap = |file: &Script| {
        file.has_word(&["PIPESTATUS"])
            || (sees_stack && file.has_word(&["_"]))
            || file.has_function("trap")
            || is_traced(file)
    };
    let own_err = any(&|file| traps(file, "ERR"));
    if own_err || !parts.all {
        watched.push("own");
    }
    if any(&becomes_another) {
        watched.push("exec");
    }
    let own_traps = own_exit || own_err;
    if own_traps && parts.all && !sees_functions && !any(&sees_trap) {
        watched.extend(["traps"].into_iter().chain(sees_stack.then_some("stack")));
    }
    Some(watched.join(" "))
}

fn are_harmless(options: &[String]) -> bool {
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let harmless = match option.as_str() {
            "-o" => options.next().is_some_and(|name| NAMED.contains(&name.as_str())),
            option => option
                .strip_prefix('-')
                .is_some_and(|letters| letters.chars().all(|letter| OPTIONS.contains(letter))),
        };
        if !harmless {
            return false;
        }
    }
    true
}

/// Whether a script would see the traps, whatever they do.
fn sees_all(file: &Script) -> bool {
    file.has_word(&["BASH_XTRACEFD", "compgen", "extdebug", "functrace"])
        // What is called as `builtin COMMAND` would be its own.
        || file.has_function("builtin")
        || file.sets('v', "verbose")
        || file.sets('r', "restricted")
        || file.sets('T', "functrace")
        || traps(file, "DEBUG")
        || traps(file, "RETURN")
        || file.code().any(|(_, line)| lists_traps(line) || limits_files(line))
}

/// Whether a line lets a script open few files, so that bash would complain of what its traps open, or
/// limits the size of files: a note would kill the script (SIGXFSZ).
fn limits_files(line: &str) -> bool {
    line.split([';', '&', '|', '(', ')']).any(|command| {
        let words = command.split_ascii_whitespace().skip_while(|word| *word != "ulimit");
        let words: Vec<&str> = words.collect();
        words.windows(2).any(|pair| {
            let (option, value) = (pair[0], pair[1]);
            let is = |letter| option.starts_with('-') && option.ends_with(letter);
            let is_set = value != "unlimited" && !value.starts_with(['-', '>', '#']);
            // Without an option, it is the size.
            (is('n') && value.parse::<u32>().is_ok_and(|most| most < DESCRIPTORS))
                || ((is('f') || option == "ulimit") && is_set)
        })
    })
}

/// Whether a script calls `exec` for more than a redirection.
fn becomes_another(file: &Script) -> bool {
    file.code().any(|(_, line)| {
        let mut words = line.split_ascii_whitespace().skip_while(|w| !w.ends_with("exec")).skip(1);
        words.next().is_some_and(|next| {
            !next.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['<', '>', '&', '{'])
        })
    })
}

/// Whether a script has bash show functions that it doesn't name, often to send them to another shell, or
/// asks what `exit` or `trap` is.
fn shows_functions(file: &Script) -> bool {
    let ends_command = |c: char| ";|&()<>`".contains(c);
    let commands = |line: &str| line.split(ends_command).map(str::to_owned).collect::<Vec<_>>();
    file.code().flat_map(|(_, line)| commands(line)).any(|command| {
        let quote = |c: char| c == '"' || c == '\'';
        let words = command.split_ascii_whitespace();
        let mut words = words.map(|word| (word.trim_matches(quote), word.starts_with(quote)));
        let has = |wanted: &[&str]| words.clone().any(|(word, _)| wanted.contains(&word));
        if has(&["command", "declare", "type", "typeset"]) && has(&["exit", "trap"]) {
            return true;
        }
        let is_shown = |(word, _)| ["declare", "typeset", "set", "readonly"].contains(&word);
        let Some((name, _)) = words.find(|word| is_shown(*word)) else { return false };
        let mut words = words.peekable();
        let mut options = String::new();
        while let Some((option, _)) = words.next_if(|(word, _)| word.starts_with('-')) {
            options.push_str(option);
        }
        // Of a variable without quotes, or of a list, nothing may be left.
        let is_name = |&(word, quoted): &(&str, bool)| {
            !word.starts_with('#')
                && (!word.starts_with('$') || (quoted && !word.contains(['@', '*'])))
        };
        let named = words.peek().is_some_and(is_name);
        match name {
            _ if options.is_empty() => name != "readonly" && words.peek().is_none(),
            "set" => false,
            _ => options.contains(['f', 'F']) && !named,
        }
    })
}

/// Whether a script sets its own trap for this.
pub(crate) fn traps(file: &Script, signal: &str) -> bool {
    file.code().any(|(_, line)| is_trap(line, signal))
}

/// Whether a trap for this is set in a line. The end of a trap of many lines begins with its quote,
/// and has nothing but signals after it.
fn is_trap(line: &str, signal: &str) -> bool {
    let ends_trap = line.strip_prefix(['\'', '"']).is_some_and(|rest| {
        let signals = rest.split([';', '#', '&', '|']).next().unwrap_or_default();
        signals.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ')
    });
    (ends_trap || words(line).any(|word| word == "trap")) && words(line).any(|word| word == signal)
}

/// Whether a script's EXIT trap must not run within a function, as ours is: it takes the script's
/// arguments, or returns. Of one of many lines that isn't known.
fn needs_no_function(file: &Script) -> bool {
    let arguments = |line: &str| {
        let mut after =
            line.split('$').skip(1).map(|rest| rest.trim_start_matches(['{', '#', '!']));
        after.any(|rest| {
            rest.starts_with(|c: char| c.is_ascii_digit() && c != '0' || "@*#}".contains(c))
        }) || line.contains("$#")
    };
    file.code().filter(|(_, line)| is_trap(line, "EXIT") || is_trap(line, "0")).any(|(_, line)| {
        line.starts_with(['\'', '"'])
            || arguments(line)
            || words(line).any(|word| OF_FUNCTIONS.contains(&word.trim_start_matches('$')))
    })
}

/// Whether a line has `trap` tell which traps there are.
fn lists_traps(line: &str) -> bool {
    let mut words = line.split([' ', '\t', ';', '(']).skip_while(|word| !word.starts_with("trap"));
    match words.next() {
        Some("trap") => {
            let next = words.find(|word| !word.is_empty()).unwrap_or_default();
            next.is_empty() || next == "-p" || next.starts_with(['|', '>', ')', '&', '#'])
        }
        Some(word) => word.starts_with("trap)"),
        None => false,
    }
}
