//! Who sends a request to the admin API, and what that allows. The listener knows it: a socket by its
//! file's rights, the TLS listener by a token.

use std::sync::Arc;

use axum::extract::{Extension, Request};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use provost_store::{Admin, Role};

use crate::listener::connections::Connection;
use crate::listener::refusal::Refusal;

/// What a request needs, and what somebody may: what is less first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum May {
    /// Nothing.
    Nothing,
    /// What an admin with this role may.
    Role(Role),
    /// Everything: also say who is an admin.
    All,
}

impl May {
    pub(crate) const READ: Self = Self::Role(Role::Read);
    pub(crate) const OPERATE: Self = Self::Role(Role::Operate);
}

/// Who sends a request.
#[derive(Clone, Debug)]
pub(crate) enum Actor {
    /// A user of this machine, by the socket of those who operate.
    User(String),
    /// Somebody at a listener that only reads.
    Reader,
    /// An admin over TLS, and from where.
    Admin(Admin, String),
}

impl Actor {
    pub(crate) fn may(&self) -> May {
        match self {
            Self::User(_) => May::All,
            Self::Reader => May::READ,
            Self::Admin(admin, _) => match admin.role {
                // Given by a newer provostd: what it allows isn't known.
                Role::Other(_) => May::Nothing,
                role => May::Role(role),
            },
        }
    }

    /// The name in the audit log.
    pub(crate) fn who(&self) -> &str {
        match self {
            Self::User(name) => name,
            Self::Reader => "reader",
            Self::Admin(admin, _) => &admin.name,
        }
    }

    /// From where.
    pub(crate) fn from(&self) -> &str {
        match self {
            Self::User(_) => "admin.sock",
            Self::Reader => "read.sock",
            Self::Admin(_, from) => from,
        }
    }

    /// Accepts the request `action` only from those who may do what it needs.
    pub(crate) fn check(&self, action: &str, needs: May) -> Result<(), Refusal> {
        if self.may() >= needs {
            return Ok(());
        }
        let whose = match self {
            Self::Admin(admin, _) => format!("{} has the role {}", admin.name, admin.role),
            _ => "this listener is read-only".to_owned(),
        };
        let (needed, hint) = match (self, needs) {
            (Self::Admin(Admin { name, .. }, _), May::Role(role)) => (
                format!("the role {role}"),
                format!(
                    "on the management node: provostctl admin remove {name}; provostctl admin add \
                     {name} --role {role}"
                ),
            ),
            _ => (
                "the socket".to_owned(),
                "use the socket on the management node: provostctl --admin unix:DATA/admin.sock"
                    .to_owned(),
            ),
        };
        let error = format!("{whose}, and {action} needs {needed}");
        Err(Refusal::new(StatusCode::FORBIDDEN, error, hint))
    }
}

/// For the socket of those who operate.
pub(crate) async fn over_socket(
    Extension(by): Extension<Arc<Connection>>,
    mut request: Request,
    next: Next,
) -> Response {
    let user = by.user().map(|id| {
        let name = provost_fs::user_name(id).ok().flatten();
        name.unwrap_or_else(|| format!("user {id}"))
    });
    let actor = Actor::User(user.unwrap_or_else(|| "unknown user".to_owned()));
    request.extensions_mut().insert(actor);
    next.run(request).await
}

/// For the listeners that only read.
pub(crate) async fn over_read_only(mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(Actor::Reader);
    next.run(request).await
}
