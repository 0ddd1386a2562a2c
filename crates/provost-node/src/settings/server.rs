use provost_http::zone;
use reqwest::Url;

use crate::failure::Failure;

/// The URL of a server, with a slash at its end. `from` is where it was configured, for the error.
pub fn parse(text: &str, from: &str) -> Result<Url, Failure> {
    let refused = |why: String| {
        let hint = match text.is_ascii() {
            true => "write it as a URL, best with an address, e.g. http://10.0.0.1:8480",
            false => "write the name in ASCII, as in http://xn--mller-kva.example, or an address",
        };
        Failure::config(format!("the server {text:?}{from} can't be used: {why}"), hint)
    };
    let mut url = zone::parse_url(text).map_err(refused)?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(refused("it isn't an http or https URL".to_owned()));
    }
    if url.query().or(url.fragment()).is_some() {
        return Err(refused("it has a `?` or a `#`".to_owned()));
    }
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}
