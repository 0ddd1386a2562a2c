use anyhow::{Result, bail};

use crate::{bench, demo, dist, manual, test};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  demo [--keep]  provision a node inside a temporary folder, then break a script and find out why;
                 --keep leaves the server up at the end
  test [--vm]    all that decides whether a change may go in: format, lints, tests, the node's binary,
                 machines that boot under QEMU, which take root; --vm boots these alone
  cycles         find files of a crate that import each other in a loop
  dist           build static programs and packages into dist/
  manual         write docs/man and docs/completions anew, from the command lines
  bench NAME     measure; NAME is one of: boot, exec, record";

/// Runs the command that `args` name.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["demo"] => demo::run(false),
        ["demo", "--keep"] => demo::run(true),
        ["test"] => test::run(),
        ["test", "--vm"] => test::machines::run(),
        ["cycles"] => test::cycles::check(),
        ["dist"] => dist::run(),
        ["manual"] => manual::write(),
        ["bench", name] => bench::run(name),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        [] => bail!("no command\n\n{USAGE}"),
        _ => bail!("unknown command: {}\n\n{USAGE}", args.join(" ")),
    }
}
