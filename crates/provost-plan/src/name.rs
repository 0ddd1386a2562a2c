/// Whether `name` can be a node's: it has to be a file name, a host name and a word of a shell.
pub fn is_node_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !name.starts_with(['.', '-']) && (1..=200).contains(&name.len()) && name.chars().all(allowed)
}
