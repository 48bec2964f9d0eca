//! Arguments of the commands about gamemodes.

use super::{
    Parsed,
    words::{nothing_in, player_id, required, text},
};
use crate::{
    console::{
        command::{ConsoleCommand, GrantName, ResourceAction},
        error::ArgumentFault,
        grammar::first_word,
    },
    script::ResourceName,
};

pub(in super::super) fn resource(arguments: &str) -> Parsed {
    const ACTIONS: &[&str] = &["list", "start NAME", "stop NAME", "restart NAME"];
    let (action, rest) = first_word(arguments);
    let name = || {
        let (word, rest) = required("NAME", rest)?;
        nothing_in(rest)?;
        ResourceName::parse(word).ok_or(ArgumentFault::ResourceName)
    };
    let action = match action {
        "list" => {
            nothing_in(rest)?;
            ResourceAction::List
        }
        "start" => ResourceAction::Start(name()?),
        "stop" => ResourceAction::Stop(name()?),
        "restart" => ResourceAction::Restart(name()?),
        _ => return Err(ArgumentFault::NoneOf { words: ACTIONS }),
    };
    Ok(ConsoleCommand::Resource(action))
}

pub(in super::super) fn eval(arguments: &str) -> Parsed {
    required("RHAI", arguments)?;
    Ok(ConsoleCommand::Eval(arguments.to_owned()))
}

pub(in super::super) fn grant(arguments: &str) -> Parsed {
    let (id, name) = granted(arguments)?;
    Ok(ConsoleCommand::Grant { id, name })
}

pub(in super::super) fn revoke(arguments: &str) -> Parsed {
    let (id, name) = granted(arguments)?;
    Ok(ConsoleCommand::Revoke { id, name })
}

fn granted(arguments: &str) -> Result<(u16, GrantName), ArgumentFault> {
    let (id, rest) = required("ID", arguments)?;
    let id = player_id(id)?;
    let (name, rest) = required("NAME", rest)?;
    nothing_in(rest)?;
    Ok((id, text("NAME", name)?))
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{read, refused},
        *,
    };

    #[test]
    fn a_resource_is_started_stopped_and_restarted_by_a_plain_name() {
        let ConsoleCommand::Resource(ResourceAction::Restart(name)) = read("resource restart free-roam_2")
        else {
            panic!()
        };
        assert_eq!(name.as_str(), "free-roam_2");
        assert!(matches!(
            read("resource list"),
            ConsoleCommand::Resource(ResourceAction::List)
        ));
        for bad in [
            "resource",
            "resource start",
            "resource reload x",
            "resource list x",
        ] {
            assert!(refused(bad).contains("usage: "), "{bad}");
        }
        for bad in ["resource start ../etc", "resource stop A", "resource start a/b"] {
            assert!(refused(bad).contains("lower-case"), "{bad}");
        }
    }

    #[test]
    fn an_expression_is_the_rest_of_the_line_as_it_stands() {
        let ConsoleCommand::Eval(text) = read("eval  1  +  \"a b\" ") else {
            panic!()
        };
        assert_eq!(text, "1  +  \"a b\"");
        assert!(refused("eval").contains("RHAI"));
    }

    #[test]
    fn what_is_granted_is_one_word() {
        assert!(matches!(
            read("grant 5 admin"),
            ConsoleCommand::Grant { id: 5, name } if name.as_str() == "admin"
        ));
        assert!(matches!(
            read("revoke 999 vip"),
            ConsoleCommand::Revoke { id: 999, .. }
        ));
        for bad in ["grant 5", "grant admin 5", "grant 5 two words", "revoke 1000 x"] {
            assert!(refused(bad).contains("usage: "), "{bad}");
        }
    }
}
