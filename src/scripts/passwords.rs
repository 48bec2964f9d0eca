//! Argon2id on a thread of its own, for gamemodes that keep accounts.
//!
//! What is hashed and what comes of it is a secret of the gamemode: neither is ever logged.

use std::{io, thread};

use argon2::{
    Algorithm, Argon2, Params, PasswordHash, PasswordHasher, PasswordVerifier, Version, password_hash,
};
use crossbeam_channel::{Sender, TrySendError, bounded};
use decitick_components::{
    script::{ScriptAnswer, ScriptOutcome},
    secret::Secret,
    worker::WorkerAnswer,
};

/// Passwords that wait to be hashed or compared.
const WAITING_MOST: usize = 256;
/// Bytes of a password.
const PASSWORD_MOST: usize = 1024;
/// Bytes of a hash in PHC form.
const HASH_MOST: usize = 512;
/// KiB of memory that a hash takes.
const MEMORY: u32 = 19 * 1024;
/// Passes over that memory.
const PASSES: u32 = 2;
/// A hash that was made elsewhere may take so many times as much of either.
const STRONGER_MOST: u32 = 8;

/// The end of the thread that wishes are put into.
#[derive(Clone, Debug)]
pub struct Hashes {
    jobs: Sender<(u64, Job)>,
    answers: Sender<WorkerAnswer>,
}

#[derive(Debug)]
enum Job {
    Hash(Secret<String>),
    Verify {
        password: Secret<String>,
        hash: Secret<String>,
    },
}

impl Job {
    fn run(&self) -> ScriptOutcome {
        match self {
            Self::Hash(password) => ScriptOutcome::PasswordHashed(hash(password)),
            Self::Verify { password, hash } => ScriptOutcome::PasswordVerified(verify(password, hash)),
        }
    }

    fn refused(&self, problem: &str) -> ScriptOutcome {
        match self {
            Self::Hash(_) => ScriptOutcome::PasswordHashed(Err(problem.to_owned())),
            Self::Verify { .. } => ScriptOutcome::PasswordVerified(Err(problem.to_owned())),
        }
    }
}

impl Hashes {
    /// Starts the thread; it ends when the last copy of this is gone.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(answers: Sender<WorkerAnswer>) -> io::Result<Self> {
        let (jobs, wanted) = bounded::<(u64, Job)>(WAITING_MOST);
        let done = answers.clone();
        thread::Builder::new().name("hashes".to_owned()).spawn(move || {
            for (request, job) in wanted {
                let outcome = job.run();
                if done.send(answer(request, outcome)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { jobs, answers })
    }

    /// Hashes a password; answered by [`ScriptOutcome::PasswordHashed`].
    pub fn hash(&self, request: u64, password: Secret<String>) {
        self.queue(request, Job::Hash(password));
    }

    /// Compares a password with a hash; answered by [`ScriptOutcome::PasswordVerified`].
    pub fn verify(&self, request: u64, password: Secret<String>, hash: Secret<String>) {
        self.queue(request, Job::Verify { password, hash });
    }

    /// When too many wait, the answer is an error, and comes at once.
    fn queue(&self, request: u64, job: Job) {
        let (job, problem) = match self.jobs.try_send((request, job)) {
            Ok(()) => return,
            Err(TrySendError::Full((_, job))) => (job, "too many passwords wait; try again later"),
            Err(TrySendError::Disconnected((_, job))) => {
                (job, "passwords are no longer hashed; the server stops")
            }
        };
        // A tick that is gone needs no answer.
        let _ = self.answers.send(answer(request, job.refused(problem)));
    }
}

const fn answer(request: u64, outcome: ScriptOutcome) -> WorkerAnswer {
    WorkerAnswer::Script(ScriptAnswer { request, outcome })
}

fn hash(password: &Secret<String>) -> Result<Secret<String>, String> {
    check_password(password)?;
    let mut salt = [0; 16];
    getrandom::fill(&mut salt)
        .map_err(|error| format!("the operating system gives no random bytes: {error}"))?;
    let parameters = Params::new(MEMORY, PASSES, 1, None).map_err(|error| error.to_string())?;
    let hash: PasswordHash = Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters)
        .hash_password_with_salt(password.expose().as_bytes(), &salt)
        .map_err(|error| format!("the password cannot be hashed: {error}"))?;
    Ok(Secret::new(hash.to_string()))
}

fn verify(password: &Secret<String>, hash: &Secret<String>) -> Result<bool, String> {
    check_password(password)?;
    let none = "this is no hash as password::hash gives it ($argon2id$...)";
    if hash.expose().len() > HASH_MOST {
        return Err(none.to_owned());
    }
    let parsed = PasswordHash::new(hash.expose()).map_err(|_| none.to_owned())?;
    let parameters = Params::try_from(&parsed).map_err(|_| none.to_owned())?;
    if parsed.algorithm.as_str() != Algorithm::Argon2id.as_str() || parsed.hash.is_none() {
        return Err(none.to_owned());
    }
    // A hash says itself how much work it takes, and whoever wrote it may not have meant well.
    if parameters.m_cost() > MEMORY * STRONGER_MOST
        || parameters.t_cost() > PASSES * STRONGER_MOST
        || parameters.p_cost() > STRONGER_MOST
    {
        return Err(format!(
            "this hash takes more than {STRONGER_MOST} times the work of password::hash; hash the password anew"
        ));
    }
    match Argon2::default().verify_password(password.expose().as_bytes(), &parsed) {
        Ok(()) => Ok(true),
        Err(password_hash::Error::PasswordInvalid) => Ok(false),
        Err(_) => Err(none.to_owned()),
    }
}

fn check_password(password: &Secret<String>) -> Result<(), String> {
    if password.expose().len() > PASSWORD_MOST {
        Err(format!("a password has at most {PASSWORD_MOST} bytes"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crossbeam_channel::unbounded;

    use super::*;

    fn secret(text: &str) -> Secret<String> {
        Secret::new(text.to_owned())
    }

    #[test]
    fn a_hash_fits_its_password_alone_and_no_two_are_alike() {
        let first = hash(&secret("tulip")).unwrap();
        assert!(
            first.expose().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{}",
            first.expose()
        );
        assert_ne!(first.expose(), hash(&secret("tulip")).unwrap().expose());
        assert_eq!(verify(&secret("tulip"), &first), Ok(true));
        assert_eq!(verify(&secret("tulip "), &first), Ok(false));
    }

    #[test]
    fn what_is_no_hash_or_takes_too_much_is_refused() {
        let sound = hash(&secret("x")).unwrap().into_exposed();
        for bad in [
            String::new(),
            "tulip".to_owned(),
            sound.replace("argon2id", "argon2i"),
            sound.replace("m=19456", "m=4294967295"),
            sound.replace("t=2", "t=1000000"),
            sound.replace("p=1", "p=1000"),
            sound.replace("v=19", "v=77"),
            sound.rsplit_once('$').unwrap().0.to_owned(),
            sound.repeat(9),
        ] {
            assert!(verify(&secret("x"), &secret(&bad)).is_err(), "{bad}");
        }
        let long = "x".repeat(1025);
        assert!(hash(&secret(&long)).is_err() && verify(&secret(&long), &secret(&sound)).is_err());
        assert!(hash(&secret(&long[1..])).is_ok());
    }

    #[test]
    fn answers_name_their_requests_in_order() {
        let (answers, answered) = unbounded();
        let hashes = Hashes::start(answers).unwrap();
        hashes.hash(7, secret("tulip"));
        let Ok(WorkerAnswer::Script(ScriptAnswer {
            request: 7,
            outcome: ScriptOutcome::PasswordHashed(Ok(hash)),
        })) = answered.recv()
        else {
            panic!("another answer");
        };
        hashes.verify(8, secret("tulip"), hash);
        hashes.verify(9, secret("tulip"), secret("none"));
        let outcomes: Vec<(u64, Option<bool>)> = answered
            .iter()
            .take(2)
            .map(|answer| match answer {
                WorkerAnswer::Script(ScriptAnswer {
                    request,
                    outcome: ScriptOutcome::PasswordVerified(result),
                }) => (request, result.ok()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(outcomes, [(8, Some(true)), (9, None)]);
    }

    #[test]
    fn a_full_queue_refuses_at_once() {
        let (answers, answered) = unbounded();
        let (jobs, _wanted) = bounded(1);
        let hashes = Hashes { jobs, answers };
        hashes.hash(1, secret("a"));
        hashes.hash(2, secret("b"));
        let told = format!("{:?}", answered.try_recv().unwrap());
        assert!(
            told.contains("request: 2") && told.contains("too many passwords wait"),
            "{told}"
        );
        assert!(answered.try_recv().is_err());
    }
}
