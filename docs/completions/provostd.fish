# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_provostd_global_optspecs
    string join \n config= log-format= h/help V/version
end

function __fish_provostd_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_provostd_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_provostd_using_subcommand
    set -l cmd (__fish_provostd_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c provostd -n "__fish_provostd_needs_command" -l config -d 'Configuration' -r -F
complete -c provostd -n "__fish_provostd_needs_command" -l log-format -d 'Log on stderr as text or as json' -r -f -a "text\t''
json\t''"
complete -c provostd -n "__fish_provostd_needs_command" -s h -l help -d 'Print help'
complete -c provostd -n "__fish_provostd_needs_command" -s V -l version -d 'Print version'
complete -c provostd -n "__fish_provostd_needs_command" -f -a "prepare" -d 'Make the keys of a first start, and print what publish needs'
complete -c provostd -n "__fish_provostd_needs_command" -f -a "install-sh" -d 'Print install.sh, which makes a machine a node'
complete -c provostd -n "__fish_provostd_needs_command" -f -a "check" -d 'Check that provostd would start, and list what is wrong'
complete -c provostd -n "__fish_provostd_needs_command" -f -a "ca" -d 'Show or rotate the CA by which nodes trust this server'
complete -c provostd -n "__fish_provostd_using_subcommand prepare" -l config -d 'Configuration' -r -F
complete -c provostd -n "__fish_provostd_using_subcommand prepare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostd -n "__fish_provostd_using_subcommand install-sh" -l config -d 'Configuration' -r -F
complete -c provostd -n "__fish_provostd_using_subcommand install-sh" -s h -l help -d 'Print help'
complete -c provostd -n "__fish_provostd_using_subcommand check" -l config -d 'Configuration' -r -F
complete -c provostd -n "__fish_provostd_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostd -n "__fish_provostd_using_subcommand ca; and not __fish_seen_subcommand_from show rotate" -l config -d 'Configuration' -r -F
complete -c provostd -n "__fish_provostd_using_subcommand ca; and not __fish_seen_subcommand_from show rotate" -s h -l help -d 'Print help'
complete -c provostd -n "__fish_provostd_using_subcommand ca; and not __fish_seen_subcommand_from show rotate" -f -a "show" -d 'Show the CA\'s certificate, and what provostctl publish --tls takes'
complete -c provostd -n "__fish_provostd_using_subcommand ca; and not __fish_seen_subcommand_from show rotate" -f -a "rotate" -d 'Rotate the CA; nodes that trust the old one still connect'
complete -c provostd -n "__fish_provostd_using_subcommand ca; and __fish_seen_subcommand_from show" -l config -d 'Configuration' -r -F
complete -c provostd -n "__fish_provostd_using_subcommand ca; and __fish_seen_subcommand_from show" -l tls -d 'Show only what provostctl publish --tls takes'
complete -c provostd -n "__fish_provostd_using_subcommand ca; and __fish_seen_subcommand_from show" -l ssh -d 'Show the line for ssh\'s known_hosts, for nodes whose host keys the postscript hostkeys has certified'
complete -c provostd -n "__fish_provostd_using_subcommand ca; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c provostd -n "__fish_provostd_using_subcommand ca; and __fish_seen_subcommand_from rotate" -l config -d 'Configuration' -r -F
complete -c provostd -n "__fish_provostd_using_subcommand ca; and __fish_seen_subcommand_from rotate" -l finish -d 'Drop the old CA, once all nodes trust the new one'
complete -c provostd -n "__fish_provostd_using_subcommand ca; and __fish_seen_subcommand_from rotate" -s h -l help -d 'Print help'
