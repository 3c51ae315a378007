use std::path::PathBuf;

/// Why there is no database's server, and what a person can do.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error(
        "the database's address cannot be read: {0}. It is written postgres://USER:PASSWORD@HOST/NAME"
    )]
    Url(#[source] sqlx::Error),
    #[error(
        "the database's address is not PostgreSQL's: it is written postgres://USER:PASSWORD@HOST/NAME"
    )]
    Scheme,
    #[error(
        "PostgreSQL's programs were not found. Install them (Debian: apt install postgresql), set \
         HOPWISE_PG_BIN to the folder that has initdb and postgres, or give a database's address \
         with DATABASE_URL"
    )]
    NoPrograms,
    #[error("HOPWISE_PG_BIN is {dir}, but {detail}")]
    BadPrograms { dir: PathBuf, detail: String },
    #[error(
        "the database in {dir} was made by PostgreSQL {made_by}, but {found}. Install that version \
         (Debian: apt install postgresql-{made_by}), or set HOPWISE_PG_BIN to the folder of its \
         programs. To move to another version: dump with the old one (pg_dump), move {dir} away, \
         start Hopwise once with the new one, stop it, and restore"
    )]
    Version {
        dir: PathBuf,
        made_by: String,
        found: String,
    },
    #[error(
        "another Hopwise runs the database in {dir}. Stop it first, or give this one another state \
         folder"
    )]
    InUse { dir: PathBuf },
    #[error(
        "PostgreSQL does not run as root, and there is no user to run it as. Make one: adduser \
         --system --group hopwise"
    )]
    NoUser,
    #[error(
        "{dir} belongs to another user (number {owner}). Start Hopwise as that user or as root, or \
         give it another state folder"
    )]
    NotOurs { dir: PathBuf, owner: u32 },
    #[error(
        "the user {user}, who runs the database, cannot reach {dir}. Choose a state folder that \
         others may pass through, such as /var/lib/hopwise"
    )]
    OutOfReach { user: String, dir: PathBuf },
    #[error("the database could not be created in {dir}: {log}")]
    Create { dir: PathBuf, log: String },
    #[error("the database did not start ({status}); the end of {log_file}: {log}")]
    Start {
        status: String,
        log_file: PathBuf,
        log: String,
    },
    #[error("process {pid} still runs in {dir} and does not end. End it, then start Hopwise again")]
    Leftover { pid: i32, dir: PathBuf },
    #[error("the database was started, but could not be set up: {0}")]
    SetUp(#[source] sqlx::Error),
    #[error("{doing} {path}: {source}")]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
}

impl DatabaseError {
    pub(super) fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            doing,
            path,
            source,
        }
    }
}
