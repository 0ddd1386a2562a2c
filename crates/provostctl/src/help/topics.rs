//! What isn't about one command: `provostctl help exit-status`, `node-sets`, `environment`.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::Command;
use provost_help::sections;

/// Statuses, each with its meaning.
type Exits = &'static [(u8, &'static str)];

/// About NODES, wherever a command takes them.
const NODE_SETS: &str = "\
Node sets: what NODES of a command may be

Names and ranges:
  cn001                one node
  cn001,cn007          two
  cn[001-512,600]      a range, and one more; leading zeros are kept
  cn[001-511/2]        every second one
  r[1-4]n[01-32]       several ranges in a name

Groups and what provostd knows:
  @compute             a group of the published site.toml, or one of ClusterShell
  @SOURCE:GROUP        a group of one of ClusterShell's sources
  @failed              nodes whose kickstart, boot or last rerun failed
  @held                nodes that the guard holds
  @status:booting      nodes with this status or updatestatus
  @cause:ID            nodes that failed for the same cause: provostctl nodes shows the IDs

Operators, from left to right:
  A,B                  nodes of A or B
  A!B                  nodes of A that aren't in B
  A&B                  nodes of both
  A^B                  nodes of one of them

  -                    read NODES from standard input, on any number of lines
  -f FILE              read them from a file; # begins a comment

Quote a set that has brackets, ! or &: the shell would expand them.

Examples:
  provostctl nodes 'cn[001-512]!cn007'
  provostctl continue @failed
  provostctl nodes --failed -o NODES
";

/// Variables that no option stands for.
const OTHER_VARIABLES: [(&str, &str); 2] = [
    ("NO_COLOR", "Turns colours off, as TERM=dumb does"),
    ("CLUSTERSHELL_CFGDIR", "The folder of ClusterShell's configuration, which names its groups"),
];

/// The text of a topic.
pub(super) fn text(topic: &str, program: &Command) -> Option<String> {
    match topic {
        "exit-status" => Some(exit_status()),
        "node-sets" => Some(NODE_SETS.to_owned()),
        "environment" => Some(environment(program)),
        _ => None,
    }
}

/// The exit statuses of all commands: those of most, then the others.
fn exit_status() -> String {
    let rows = |text: &mut String, exits: Exits| {
        for (status, meaning) in exits {
            // Writing to a String can't fail, here and below.
            let _ = writeln!(text, "  {status:<5}{}", meaning.trim_end_matches('.'));
        }
    };
    let mut text = "Exit statuses of provostctl\n\nMost commands:\n".to_owned();
    rows(&mut text, sections::PLAIN);
    let mut others: Vec<(Vec<&str>, Exits)> = Vec::new();
    for sections in sections::all().filter(|one| one.has_own_exits()) {
        let Some(name) = sections.name.strip_prefix("provostctl ") else { continue };
        match others.iter_mut().find(|(_, exits)| *exits == sections.exits) {
            Some((names, _)) => names.push(name),
            None => others.push((vec![name], sections.exits)),
        }
    }
    for (names, exits) in others {
        let _ = writeln!(text, "\n{}:", names.join(", "));
        rows(&mut text, exits);
    }
    text + "\nThose of the node's command: man 8 provost\n"
}

/// The variables that stand for options, each with what its option does.
fn environment(program: &Command) -> String {
    let mut variables = BTreeMap::new();
    add_variables(program, &mut variables);
    let mut text =
        "Environment variables of provostctl\n\nEach stands for an option, which overrides it:\n"
            .to_owned();
    for (variable, (option, help)) in variables {
        let _ = writeln!(text, "  {variable}\n      --{option}: {help}");
    }
    text.push_str("\nOthers:\n");
    for (variable, help) in OTHER_VARIABLES {
        let _ = writeln!(text, "  {variable}\n      {help}");
    }
    text
}

fn add_variables(command: &Command, variables: &mut BTreeMap<String, (String, String)>) {
    for arg in command.get_arguments() {
        if let (Some(variable), Some(option)) = (arg.get_env(), arg.get_long()) {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            variables.insert(variable.to_string_lossy().into_owned(), (option.to_owned(), help));
        }
    }
    command.get_subcommands().for_each(|below| add_variables(below, variables));
}
