use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What stays as it is in a segment of a path: the unreserved characters of RFC 3986, 2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A path of an API, with a place such as `{node}` for each of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route(pub &'static str);

impl Route {
    /// The path with `parameters` at their places, in their order, without the slash at its begin.
    pub fn path(self, parameters: &[&str]) -> String {
        let mut parameters = parameters.iter();
        let segment = |segment: &str| match segment.starts_with('{') {
            true => {
                let parameter = parameters.next().copied().unwrap_or_default();
                utf8_percent_encode(parameter, RESERVED).to_string()
            }
            false => segment.to_owned(),
        };
        let segments: Vec<String> = self.0.split('/').skip(1).map(segment).collect();
        segments.join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_at_their_places_and_can_be_no_other_path() {
        let log = Route("/v1/runs/{run}/logs/{name}");
        assert_eq!(log.path(&["0198", "01-syslog"]), "v1/runs/0198/logs/01-syslog");
        assert_eq!(log.path(&["../x", "a b?c"]), "v1/runs/..%2Fx/logs/a%20b%3Fc");
        assert_eq!(Route("/v1/nodes").path(&[]), "v1/nodes");
    }
}
