use std::fmt::Write;
use std::net::IpAddr;

use super::lists::{Group, List};
use crate::{Plan, Step};

/// Variables that xCAT's client edits or reads in the text without a shell, so they have no quotes:
/// `updatenode` replaces `UPDATENODE=0` by `UPDATENODE=1`.
const BARE: [&str; 6] = ["MASTER", "MASTER_IP", "NODE", "NODESETSTATE", "NTYPE", "UPDATENODE"];

/// Writes a plan as the `mypostscript` that xCAT's own nodes run. Each value is one word of bash on
/// one line. What xCAT's own client requires is added where the plan's environment lacks it; the
/// management node then is `master`.
pub fn write(plan: &Plan, master: IpAddr) -> String {
    let mut text = format!("# {}'s plan, generation {}\n", plan.node, plan.generation);
    let runboot = if plan.runbootscripts { "yes" } else { "no" };
    let master = master.to_string();
    let address = plan.env.get("MASTER").filter(|master| master.parse::<IpAddr>().is_ok());
    let ours = [
        ("NODE", plan.node.as_str()),
        ("RUNBOOTSCRIPTS", runboot),
        ("MASTER", &master),
        ("MASTER_IP", address.unwrap_or(&master)),
        ("UPDATENODE", "0"),
        ("NTYPE", "compute"),
    ];
    let ours = ours.into_iter().filter(|(name, _)| !plan.env.contains_key(*name));
    let all = plan.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in ours.chain(all) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ".:_-".contains(c);
        let is_bare = BARE.contains(&name) && value.chars().all(is_plain);
        let value = if is_bare { value.to_owned() } else { quote(value) };
        // Writing to a String can't fail, here and below.
        let _ = writeln!(text, "{name}={value}\nexport {name}");
    }
    text.push_str("PATH=`dirname $0`:$PATH\nexport PATH\n");
    for (list, steps) in
        [(List::Postscripts, &plan.postscripts), (List::Postbootscripts, &plan.postbootscripts)]
    {
        let list = list.name();
        let _ = writeln!(text, "# {list}-start-here");
        for group in Group::ALL {
            let group_name = group.name();
            let _ = writeln!(text, "# {group_name}-{list}-start-here");
            // A plan doesn't say which section of site.toml a step came from.
            for step in steps.iter().filter(|_| group == Group::Node) {
                let _ = writeln!(text, "{}", line(step));
            }
            let _ = writeln!(text, "# {group_name}-{list}-end-here");
        }
        let _ = writeln!(text, "# {list}-end-here");
    }
    text
}

/// The step as one line.
fn line(step: &Step) -> String {
    let word = |word: &String| match word.contains(char::is_control) {
        true => quote(word),
        false => shell_words::quote(word).into_owned(),
    };
    let words: Vec<String> = std::iter::once(&step.script).chain(&step.args).map(word).collect();
    words.join(" ")
}

/// Text as one word of bash, on one line.
fn quote(text: &str) -> String {
    if !text.contains(char::is_control) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    let mut quoted = String::from("$'");
    for c in text.chars() {
        match c {
            // Both by number, so that a program that looks for the closing quote finds the right one.
            '\'' | '\\' => {
                let _ = write!(quoted, r"\{:03o}", u32::from(c));
            }
            c if c.is_control() => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(quoted, r"\{byte:03o}");
                }
            }
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;
    use crate::mypostscript::MyPostscript;

    const MASTER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn plan(env: BTreeMap<String, String>) -> Plan {
        Plan {
            format: Plan::FORMAT,
            node: "cn001".to_owned(),
            generation: 7,
            manifest: None,
            made: None,
            expires: None,
            rehearsal: false,
            runbootscripts: true,
            secret_env: Vec::new(),
            secrets_sha256: None,
            env,
            postscripts: vec![Step::parse("syslog").unwrap(), Step::parse("t b").unwrap()],
            postbootscripts: vec![Step::parse("otherpkgs").unwrap()],
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let note = "it's\n# postscripts-end-here\n`id`".to_owned();
        let text = write(&plan(BTreeMap::from([("NOTE".to_owned(), note)])), MASTER);
        let read = MyPostscript::parse(&text).unwrap();
        let names = |list, group| {
            let steps = read.steps(list, group, &BTreeMap::new()).into_iter();
            steps.map(|step| step.unwrap().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(List::Postscripts, None), ["syslog", "t b"]);
        assert_eq!(names(List::Postbootscripts, Some(Group::Node)), ["otherpkgs"]);
        assert!(names(List::Postscripts, Some(Group::Defaults)).is_empty());
        assert!(text.contains("\nNODE=cn001\nexport NODE\n"), "{text}");
        assert!(text.contains("\nRUNBOOTSCRIPTS='yes'\n"), "{text}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn bash_reads_a_value_as_the_plan_has_it(value in "[ -~\u{7f}-\u{ff}\t\n\r$'`\\\\]{0,30}") {
            let text = write(&plan(BTreeMap::from([("VALUE".to_owned(), value.clone())])), MASTER);
            let preamble = MyPostscript::parse(&text).unwrap().preamble;
            let script = format!("{preamble}\nprintf %s \"$VALUE\"");
            let output = Command::new("bash").args(["-c", &script]).output().unwrap();
            prop_assert_eq!(String::from_utf8(output.stdout).unwrap(), value);
        }
    }
}
