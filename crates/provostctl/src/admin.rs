use jiff::Timestamp;
use provost_api::admins::{ADMINS, AdminName, AdminRequest, NewAdmin, REMOVE_ADMIN};
use provost_steplog::Paint;
use provost_steplog::terminal::escape_json;
use provost_store::{Admin, Role};
use serde_json::value::RawValue;

use crate::client::Client;
use crate::failure::Failure;
use crate::format::Format;
use crate::output;
use crate::period::Period;
use crate::table::{Table, Tone};

/// `provostctl admin`.
#[derive(clap::Subcommand)]
pub(crate) enum Admins {
    /// Add an admin, and print the token
    ///
    /// The token is shown only now. Works by the socket on the management node only.
    Add {
        /// Name of the admin, for the audit log
        name: String,
        /// read; operate, which may also change what provostd knows; or publish, which may also change what
        /// nodes run
        #[arg(long, value_name = "ROLE", value_parser = str::parse::<Role>)]
        role: Role,
        /// Validity of the token, such as 12h or 30d
        #[arg(long = "for", value_name = "D", default_value = "90d")]
        lasts: Period,
    },
    /// List admins who have a token
    List {
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// End an admin's token, and the logins with it. Only by the socket on the management node
    Remove {
        /// The admin's name
        name: String,
    },
}

impl Admins {
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        match self {
            Self::Add { name, role, lasts } => {
                let lasts = u64::try_from(lasts.0.as_millis()).unwrap_or(u64::MAX);
                let request = AdminRequest { name, role, for_ms: lasts };
                let NewAdmin { admin, token } = client.post(ADMINS, &request).await?;
                output::note(&format!("{} may {} until {}", admin.name, admin.role, admin.until));
                output::print(format!("{token}\n").as_bytes())
            }
            Self::Remove { name } => {
                let removed: AdminName = client.post(REMOVE_ADMIN, &AdminName { name }).await?;
                output::print(format!("{}: removed\n", removed.name).as_bytes())
            }
            Self::List { format: Format::Json } => {
                let all: Box<RawValue> = client.get(ADMINS).await?;
                output::print(format!("{}\n", escape_json(all.get())).as_bytes())
            }
            Self::List { format: Format::Text } => list(&client.get::<Vec<Admin>>(ADMINS).await?),
        }
    }
}

fn list(all: &[Admin]) -> Result<(), Failure> {
    if all.is_empty() {
        return output::print(b"no admin has a token\n");
    }
    let now = Timestamp::now();
    let mut table = Table::new(["NAME", "ROLE", "SINCE", "UNTIL"]);
    for Admin { name, role, created, until } in all {
        let (ended, tone) = match *until > now {
            true => ("", Tone::Good),
            false => (" (ended)", Tone::Faint),
        };
        let until = format!("{until}{ended}");
        table.add([name.clone(), role.to_string(), created.to_string(), until], tone);
    }
    output::print(table.render(output::width(), Paint::of_stdout()).as_bytes())
}
