# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_decitick_global_optspecs
    string join \n listen= set= log= no-console h/help V/version
end

function __fish_decitick_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_decitick_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_decitick_using_subcommand
    set -l cmd (__fish_decitick_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c decitick -n "__fish_decitick_needs_command" -l listen -d 'Listen on this UDP address instead of the configured ones; may be given several times' -r
complete -c decitick -n "__fish_decitick_needs_command" -l set -d 'Set one key of the configuration to a RON value; may be given several times' -r
complete -c decitick -n "__fish_decitick_needs_command" -l log -d 'How log lines look, instead of the configured way' -r -f -a "pretty\t'For people, in colour on a terminal'
compact\t'For people, short'
json\t'One JSON object a line'"
complete -c decitick -n "__fish_decitick_needs_command" -l no-console -d 'Do not read commands from standard input'
complete -c decitick -n "__fish_decitick_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c decitick -n "__fish_decitick_needs_command" -s V -l version -d 'Print version'
complete -c decitick -n "__fish_decitick_needs_command" -f -a "serve" -d 'Run the server of a server directory'
complete -c decitick -n "__fish_decitick_needs_command" -f -a "init" -d 'Make a server directory; files that are there already are left as they are'
complete -c decitick -n "__fish_decitick_needs_command" -f -a "check" -d 'Judge configuration, assets, scripts, client files, key and ban list without listening'
complete -c decitick -n "__fish_decitick_needs_command" -f -a "query" -d 'Ask a server who it is, and verify the signature of its answer'
complete -c decitick -n "__fish_decitick_needs_command" -f -a "bots" -d 'Let many real clients join, play and measure a server'
complete -c decitick -n "__fish_decitick_needs_command" -f -a "console" -d 'Attach to a running server, or run one command in it'
complete -c decitick -n "__fish_decitick_needs_command" -f -a "page" -d 'Print a one-use link to the live page of a running server'
complete -c decitick -n "__fish_decitick_needs_command" -f -a "completions" -d 'Print the completions of a shell'
complete -c decitick -n "__fish_decitick_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c decitick -n "__fish_decitick_using_subcommand serve" -l listen -d 'Listen on this UDP address instead of the configured ones; may be given several times' -r
complete -c decitick -n "__fish_decitick_using_subcommand serve" -l set -d 'Set one key of the configuration to a RON value; may be given several times' -r
complete -c decitick -n "__fish_decitick_using_subcommand serve" -l log -d 'How log lines look, instead of the configured way' -r -f -a "pretty\t'For people, in colour on a terminal'
compact\t'For people, short'
json\t'One JSON object a line'"
complete -c decitick -n "__fish_decitick_using_subcommand serve" -l no-console -d 'Do not read commands from standard input'
complete -c decitick -n "__fish_decitick_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c decitick -n "__fish_decitick_using_subcommand init" -s h -l help -d 'Print help'
complete -c decitick -n "__fish_decitick_using_subcommand check" -s h -l help -d 'Print help'
complete -c decitick -n "__fish_decitick_using_subcommand query" -l key -d 'Fail unless the server has this public key (64 hexadecimal digits, as `identity` in its console prints)' -r
complete -c decitick -n "__fish_decitick_using_subcommand query" -l json -d 'Print one JSON value'
complete -c decitick -n "__fish_decitick_using_subcommand query" -s h -l help -d 'Print help'
complete -c decitick -n "__fish_decitick_using_subcommand bots" -l count -d 'How many clients join' -r
complete -c decitick -n "__fish_decitick_using_subcommand bots" -l seconds -d 'How long they play once all have joined' -r
complete -c decitick -n "__fish_decitick_using_subcommand bots" -l rate -d 'Frames that each client sends in a second' -r
complete -c decitick -n "__fish_decitick_using_subcommand bots" -l password -d 'The server\'s password' -r
complete -c decitick -n "__fish_decitick_using_subcommand bots" -l login -d 'How they log in when the server asks for it; without this they fail there' -r -f -a "password\t'With an account and a password'
credential\t'With a stored credential'
web\t'At a login provider\'s site'"
complete -c decitick -n "__fish_decitick_using_subcommand bots" -l login-password -d 'The password of their accounts, at the server or at the site it sends them to' -r
complete -c decitick -n "__fish_decitick_using_subcommand bots" -l walk -d 'How they move' -r -f -a "random\t'Each its own way'
still\t'Not at all'
crowd\t'All around one spot, so that everybody sees everybody'"
complete -c decitick -n "__fish_decitick_using_subcommand bots" -l shots-per-second -d 'Hits that each client reports in a second while it has somebody in reach of its weapon; 0: none' -r
complete -c decitick -n "__fish_decitick_using_subcommand bots" -l json -d 'Print one JSON value at the end, and no progress'
complete -c decitick -n "__fish_decitick_using_subcommand bots" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c decitick -n "__fish_decitick_using_subcommand console" -s c -l command -d 'Run one command, print its answer and exit with 0, or with 1 when it failed' -r
complete -c decitick -n "__fish_decitick_using_subcommand console" -l top -d 'Show a live view of the server, refreshed each second; without a terminal one picture of it'
complete -c decitick -n "__fish_decitick_using_subcommand console" -s h -l help -d 'Print help'
complete -c decitick -n "__fish_decitick_using_subcommand page" -l set -d 'What the server was started with, if it concerns `page`; as with `serve`' -r
complete -c decitick -n "__fish_decitick_using_subcommand page" -s h -l help -d 'Print help'
complete -c decitick -n "__fish_decitick_using_subcommand completions" -s h -l help -d 'Print help'
complete -c decitick -n "__fish_decitick_using_subcommand help; and not __fish_seen_subcommand_from serve init check query bots console page completions help" -f -a "serve" -d 'Run the server of a server directory'
complete -c decitick -n "__fish_decitick_using_subcommand help; and not __fish_seen_subcommand_from serve init check query bots console page completions help" -f -a "init" -d 'Make a server directory; files that are there already are left as they are'
complete -c decitick -n "__fish_decitick_using_subcommand help; and not __fish_seen_subcommand_from serve init check query bots console page completions help" -f -a "check" -d 'Judge configuration, assets, scripts, client files, key and ban list without listening'
complete -c decitick -n "__fish_decitick_using_subcommand help; and not __fish_seen_subcommand_from serve init check query bots console page completions help" -f -a "query" -d 'Ask a server who it is, and verify the signature of its answer'
complete -c decitick -n "__fish_decitick_using_subcommand help; and not __fish_seen_subcommand_from serve init check query bots console page completions help" -f -a "bots" -d 'Let many real clients join, play and measure a server'
complete -c decitick -n "__fish_decitick_using_subcommand help; and not __fish_seen_subcommand_from serve init check query bots console page completions help" -f -a "console" -d 'Attach to a running server, or run one command in it'
complete -c decitick -n "__fish_decitick_using_subcommand help; and not __fish_seen_subcommand_from serve init check query bots console page completions help" -f -a "page" -d 'Print a one-use link to the live page of a running server'
complete -c decitick -n "__fish_decitick_using_subcommand help; and not __fish_seen_subcommand_from serve init check query bots console page completions help" -f -a "completions" -d 'Print the completions of a shell'
complete -c decitick -n "__fish_decitick_using_subcommand help; and not __fish_seen_subcommand_from serve init check query bots console page completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
