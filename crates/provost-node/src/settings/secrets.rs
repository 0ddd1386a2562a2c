//! Which values of a plan's environment are secret.

use provost_exec::Secrets;
use provost_plan::{Plan, secret};
use reqwest::Url;

use crate::settings::Settings;

/// The secrets of this node: its token, the passwords in its URLs, and those of a plan's environment.
pub fn secrets(settings: &Settings, plan: Option<&Plan>) -> Secrets {
    let is_secret = |plan: &Plan, name: &String| {
        plan.secret_env.contains(name)
            || settings.redact.iter().any(|pattern| secret::matches(pattern, name))
    };
    let named = plan
        .into_iter()
        .flat_map(|plan| plan.env.iter().filter(move |(name, _)| is_secret(plan, name)));
    let named = named.map(|(name, value)| (name.as_str(), value.as_str()));
    let tokens = [("token", &settings.token), ("join token", &settings.join)];
    let token = tokens.into_iter().filter_map(|(what, token)| Some((what, &*token.as_ref()?.0)));
    let proxy = settings.proxy.iter().filter_map(|proxy| Url::parse(proxy).ok());
    let urls: Vec<Url> = settings.servers.iter().cloned().chain(proxy).collect();
    let passwords = urls.iter().filter_map(|url| Some(("password", url.password()?)));
    Secrets::new(token.chain(passwords).chain(named))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_management_node_hides_what_a_node_hides_by_default() {
        let names: Vec<String> = crate::settings::default("log.redact").try_into().unwrap();
        assert_eq!(names, super::secret::DEFAULT);
    }
}
