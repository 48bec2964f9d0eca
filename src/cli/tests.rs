use clap::error::ErrorKind;

use super::*;

fn command(words: &str) -> Command {
    Cli::try_parse_from(words.split_whitespace())
        .unwrap()
        .into_command()
}

fn refusal(words: &[&str]) -> clap::Error {
    Cli::try_parse_from(words).unwrap_err()
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn no_command_serves_the_current_directory() {
    let Command::Serve(serve) = command("decitick") else {
        panic!("not serve")
    };
    assert_eq!(serve.directory, PathBuf::from("."));
    let Command::Serve(serve) = command("decitick --no-console --log json --set max_players=5") else {
        panic!("not serve")
    };
    assert!(serve.options.no_console);
    assert_eq!(serve.options.log, Some(LogChoice::Json));
    assert_eq!(serve.options.overrides().set[0].key, "max_players");
}

#[test]
fn serve_takes_a_directory_and_repeated_options() {
    let words =
        "decitick serve dir --listen 127.0.0.1:1 --listen [::1]:2 --set a=1 --set b.c=(d=e) --log compact";
    let Command::Serve(serve) = command(words) else {
        panic!("not serve")
    };
    assert_eq!(serve.directory, PathBuf::from("dir"));
    let overrides = serve.options.overrides();
    assert_eq!(overrides.listen.len(), 2);
    assert_eq!(
        (overrides.set[1].key.as_str(), overrides.set[1].value.as_str()),
        ("b.c", "(d=e)")
    );
}

#[test]
fn every_command_of_the_manual_is_understood() {
    assert!(
        matches!(command("decitick init dir"), Command::Init(init) if init.directory.as_os_str() == "dir")
    );
    assert!(matches!(command("decitick check"), Command::Check(check) if check.directory.as_os_str() == "."));
    let key = "ab".repeat(32);
    let Command::Query(query) = command(&format!("decitick query example.org:7777 --key {key} --json"))
    else {
        panic!("not query")
    };
    assert_eq!((query.key, query.json), (Some([0xab; 32]), true));
    let words = "decitick bots [::1]:7777 --count 200 --seconds 5 --rate 20 --password p --walk crowd --json";
    let Command::Bots(bots) = command(words) else {
        panic!("not bots")
    };
    assert_eq!(
        (bots.count, bots.seconds, bots.rate, bots.walk),
        (200, 5, 20, Walk::Crowd)
    );
    let Command::Bots(bots) = command("decitick bots 127.0.0.1:7777 --count 1") else {
        panic!("not bots")
    };
    assert_eq!(
        (bots.rate, bots.walk, bots.password.as_str()),
        (10, Walk::Random, "")
    );
    let console = Cli::try_parse_from(["decitick", "console", "dir", "-c", "kick 1 --json"])
        .unwrap()
        .into_command();
    assert!(
        matches!(console, Command::Console(console) if console.command.as_deref() == Some("kick 1 --json"))
    );
    assert!(matches!(command("decitick console"), Command::Console(console) if console.command.is_none()));
}

#[test]
fn bots_log_in_one_of_three_ways_and_only_then_have_a_password_for_it() {
    let login = |words: &str| match command(&format!("decitick bots a:1 --count 1 {words}")) {
        Command::Bots(bots) => (bots.login, bots.login_password),
        _ => panic!("not bots"),
    };
    let usual = || "decitick-bot".to_owned();
    assert_eq!(login(""), (None, usual()));
    assert_eq!(login("--login password"), (Some(LoginWay::Password), usual()));
    assert_eq!(login("--login web"), (Some(LoginWay::Web), usual()));
    let own = (Some(LoginWay::Credential), "mine".to_owned());
    assert_eq!(login("--login credential --login-password mine"), own);
    for wrong in [&["--login", "magic"][..], &["--login-password", "mine"]] {
        let words = [&["decitick", "bots", "a:1", "--count", "1"][..], wrong].concat();
        assert_eq!(refusal(&words).exit_code(), 2, "{wrong:?}");
    }
}

#[test]
fn bots_shoot_at_a_pace_of_0_to_20_a_second() {
    let pace = |words: &str| match command(&format!("decitick bots a:1 --count 1 {words}")) {
        Command::Bots(bots) => bots.shots_per_second,
        _ => panic!("not bots"),
    };
    assert_eq!((pace(""), pace("--shots-per-second 0")), (0.5, 0.0));
    for wrong in ["20.1", "NaN", "some"] {
        let words = format!("--shots-per-second={wrong}");
        let refused = refusal(&["decitick", "bots", "a:1", "--count", "1", &words]);
        assert_eq!(refused.exit_code(), 2, "{wrong}");
    }
}

#[test]
fn wrong_words_end_with_the_code_for_usage() {
    for words in [
        &["decitick", "srve"][..],
        &["decitick", "serve", "--listen", "nowhere"],
        &["decitick", "serve", "--log", "xml"],
        &["decitick", "query", "example.org"],
        &["decitick", "query", "::1:7777"],
        &["decitick", "query", "example.org:0"],
        &["decitick", "query", "a:1", "--key", "abc"],
        &["decitick", "bots", "a:1"],
        &["decitick", "bots", "a:1", "--count", "0"],
        &["decitick", "init"],
    ] {
        assert_eq!(refusal(words).exit_code(), 2, "{words:?}");
    }
    let suggestion = refusal(&["decitick", "srve"]).to_string();
    assert!(suggestion.contains("'serve'"), "{suggestion}");
}

#[test]
fn a_setting_without_an_equals_sign_keeps_what_may_be_a_secret() {
    let Command::Serve(serve) = command("decitick serve --set password:hunter2") else {
        panic!("not serve")
    };
    let set = &serve.options.set[0];
    assert_eq!((set.key.as_str(), set.value.as_str()), ("password", ""));
}

#[test]
fn help_and_version_are_no_errors() {
    assert_eq!(refusal(&["decitick", "--help"]).kind(), ErrorKind::DisplayHelp);
    assert_eq!(refusal(&["decitick", "--version"]).exit_code(), 0);
    let help = refusal(&["decitick", "serve", "--help"]).to_string();
    assert!(
        ["--listen", "--set", "--log", "--no-console", "packet_burst"]
            .iter()
            .all(|word| help.contains(word)),
        "{help}"
    );
}
