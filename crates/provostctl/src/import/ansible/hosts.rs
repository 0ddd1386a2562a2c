//! Names of hosts with Ansible's ranges: `cn[001:512]`, `cn[01:09:2]`, `rack-[a:f]`.

/// The most names of one pattern.
const MOST: usize = 100_000;

/// The names that a pattern stands for, and whether it has a port (`cn001:2222`).
pub(super) fn expand(pattern: &str) -> Result<(Vec<String>, bool), String> {
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (pattern, port) = match pattern.rsplit_once(':') {
        Some((name, port)) if is_port(port) && is_whole(name) => (name, true),
        _ => (pattern, false),
    };
    let mut names = vec![String::new()];
    let mut rest = pattern;
    while let Some((text, range)) = rest.split_once('[') {
        let wrong = || format!("{pattern:?} is no range; expected such as cn[001:512]");
        let (range, after) = range.split_once(']').ok_or_else(wrong)?;
        let values = values(range).ok_or_else(wrong)?;
        if names.len().saturating_mul(values.len()) > MOST {
            return Err(format!("{pattern:?} stands for more than {MOST} hosts"));
        }
        names = names
            .iter()
            .flat_map(|name| values.iter().map(move |value| format!("{name}{text}{value}")))
            .collect();
        rest = after;
    }
    names.iter_mut().for_each(|name| name.push_str(rest));
    Ok((names, port))
}

/// Whether it has all of its brackets, and no colon outside of them, as IPv6 addresses have.
fn is_whole(name: &str) -> bool {
    let mut is_inside = false;
    for c in name.chars() {
        match c {
            '[' => is_inside = true,
            ']' => is_inside = false,
            ':' if !is_inside => return false,
            _ => {}
        }
    }
    !is_inside
}

/// The values of `001:512`, `1:9:2` or `a:f`.
fn values(range: &str) -> Option<Vec<String>> {
    let mut parts = range.split(':');
    let (first, last, step) = (parts.next()?, parts.next()?, parts.next().unwrap_or("1"));
    let step: usize = step.parse().ok().filter(|step| *step > 0)?;
    if parts.next().is_some() {
        return None;
    }
    if let ([first], [last]) = (first.as_bytes(), last.as_bytes())
        && first.is_ascii_alphabetic()
        && last.is_ascii_alphabetic()
    {
        return Some((*first..=*last).step_by(step).map(|c| char::from(c).to_string()).collect());
    }
    let begin: u64 = if first.is_empty() { 0 } else { first.parse().ok()? };
    let end: u64 = last.parse().ok()?;
    if end < begin || end - begin > MOST as u64 * step as u64 {
        return None;
    }
    // Leading zeros say how many digits there are.
    let width = if first.starts_with('0') { first.len() } else { 0 };
    Some((begin..=end).step_by(step).map(|n| format!("{n:0width$}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_ansible() {
        let names = |pattern: &str| expand(pattern).unwrap().0.join(" ");
        assert_eq!(names("cn[008:010]"), "cn008 cn009 cn010");
        assert_eq!(names("cn[8:10]-ib"), "cn8-ib cn9-ib cn10-ib");
        assert_eq!(names("cn[01:09:4]"), "cn01 cn05 cn09");
        assert_eq!(names("r[a:c]n[1:2]"), "ran1 ran2 rbn1 rbn2 rcn1 rcn2");
        assert_eq!(expand("cn001:2222").unwrap(), (vec!["cn001".to_owned()], true));
        assert!(expand("cn[1:2]:22").unwrap().1);
        assert_eq!(expand("fd00::5").unwrap(), (vec!["fd00::5".to_owned()], false));
        for wrong in ["cn[1-2]", "cn[1:", "cn[2:1]", "cn[1:2:0]", "cn[0:99999999]", "cn[x:9]"] {
            assert!(expand(wrong).is_err(), "{wrong}");
        }
    }
}
