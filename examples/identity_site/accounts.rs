//! Who may log in: the accounts of the command line, compared in constant time.

use std::collections::BTreeMap;

use subtle::ConstantTimeEq;

use super::token::{NAME_MAX, is_name};

/// The account of a site that was given none.
const DEMO_ACCOUNT: &str = "ada:lovelace";

/// Who may log in.
pub(crate) struct Accounts {
    passwords: BTreeMap<String, String>,
    any: Option<String>,
}

impl Accounts {
    /// Accounts of the form `NAME:PASSWORD`, and the password with which every name is taken. The error does not hold
    /// what was given, since that may be a password.
    pub(crate) fn new(accounts: &[String], any: Option<String>) -> Result<Self, String> {
        let demo = [DEMO_ACCOUNT.to_owned()];
        let accounts = if accounts.is_empty() && any.is_none() {
            &demo
        } else {
            accounts
        };
        let mut passwords = BTreeMap::new();
        for (index, account) in accounts.iter().enumerate() {
            let parts = account
                .split_once(':')
                .filter(|(name, word)| is_name(name) && !word.is_empty());
            let Some((name, password)) = parts else {
                return Err(format!(
                    "--account, number {}: write NAME:PASSWORD, with a name of 1 to {NAME_MAX} bytes",
                    index + 1
                ));
            };
            if passwords.insert(name.to_owned(), password.to_owned()).is_some() {
                return Err(format!("--account: {name:?} stands there twice; take one out"));
            }
        }
        if any.as_deref() == Some("") {
            return Err("--any-account: write a password that is not empty".into());
        }
        Ok(Self { passwords, any })
    }

    /// Whether the password is that of the account. An unknown account is compared with as well.
    pub(crate) fn admit(&self, name: &str, password: &str) -> bool {
        let same = |right: Option<&String>| {
            let matches = right
                .map_or("", String::as_str)
                .as_bytes()
                .ct_eq(password.as_bytes());
            bool::from(matches) && right.is_some()
        };
        let (own, any) = (same(self.passwords.get(name)), same(self.any.as_ref()));
        is_name(name) && (own || any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_the_given_ones_or_the_demo_or_any() {
        let demo = Accounts::new(&[], None).unwrap();
        assert!(demo.admit("ada", "lovelace") && !demo.admit("ada", "") && !demo.admit("eve", "lovelace"));
        let any = Accounts::new(&[], Some("bots".into())).unwrap();
        assert!(any.admit("bot 1", "bots") && any.admit("ada", "bots") && !any.admit("ada", "lovelace"));
        assert!(!any.admit("", "bots") && !any.admit("a\n", "bots") && !any.admit(&"x".repeat(65), "bots"));
        let both = Accounts::new(&["ada:x".into()], Some("bots".into())).unwrap();
        assert!(both.admit("ada", "x") && both.admit("ada", "bots") && !both.admit("eve", "x"));
    }

    #[test]
    fn a_bad_account_is_refused_without_being_repeated() {
        for bad in [
            "secretword",
            ":secretword",
            "ada:",
            "a\nsecretword:x",
            &format!("{}:secretword", "x".repeat(65)),
        ] {
            let error = Accounts::new(&[bad.into()], None).err().unwrap();
            assert!(
                error.contains("NAME:PASSWORD") && !error.contains("secretword"),
                "{error}"
            );
        }
        let twice = Accounts::new(&["ada:secretword".into(), "ada:x".into()], None)
            .err()
            .unwrap();
        assert!(twice.contains("twice") && !twice.contains("secretword"));
        assert!(Accounts::new(&[], Some(String::new())).is_err());
    }
}
