# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_provostctl_global_optspecs
    string join \n h/help V/version
end

function __fish_provostctl_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_provostctl_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_provostctl_using_subcommand
    set -l cmd (__fish_provostctl_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c provostctl -n "__fish_provostctl_needs_command" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_needs_command" -s V -l version -d 'Print version'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "publish" -d 'Check, sign and publish scripts and site.toml'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "promote" -d 'Publish to all nodes what a channel\'s nodes have'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "rollback" -d 'Publish an earlier generation again, to all nodes'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "channel" -d 'Manage channels: nodes that get a publication before all others'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "history" -d 'List publications: changes, publisher, and nodes that ran them'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "plan" -d 'Show what a node will run, and where in site.toml it comes from'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "try" -d 'Run a script without effect, and show what it would change'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "key" -d 'Manage the keys that sign what is published'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "import" -d 'Write a site.toml from another system\'s tables'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "nodes" -d 'Show failures by cause and the other nodes by status, or list nodes'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "show" -d 'Show what a node ran last, and why it failed'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "why" -d 'Show what nodes that failed have in common'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "log" -d 'Show a script\'s log: each command, its output and exit status'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "journal" -d 'Show a node\'s systemd journal of a unit, by ssh'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "watch" -d 'Show failures by cause and the other nodes by status, live'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "wait-for" -d 'Wait until nodes have a status'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "remove" -d 'Delete nodes from provostd: status, runs, logs, identity, token'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "snippet" -d 'Print the script that an installer runs at its end'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "enroll" -d 'Give identities to nodes while they are installed'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "join" -d 'Create join tokens, with which nodes get their identities'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "pending" -d 'List keys that wait for approval, and nodes without credentials'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "approve" -d 'Approve a pending key: it becomes its node\'s identity'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "reject" -d 'Reject a pending key'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "revoke" -d 'Revoke identities and tokens of nodes'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "token" -d 'Create bearer tokens, for nodes that report without TLS'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "rerun" -d 'Run a script again on nodes, by ssh'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "sync" -d 'Publish what has changed, then have nodes sync files, by ssh'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "continue" -d 'Continue a failed boot or kickstart on nodes, by ssh'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "boot" -d 'Run all that a boot needs on nodes, by ssh'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "release" -d 'Release nodes that the guard holds: they run at their next start'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "gather" -d 'Collect the logs of nodes in bundles, by ssh'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "init" -d 'Set up this management node'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "admin" -d 'Manage admins who use provostd over TLS'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "audit" -d 'List changes made over the admin API: who, from where, what, when'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "expiry" -d 'List what expires when, and how to renew it'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "compat" -d 'Check that the versions in use work together'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "backup" -d 'Back up this management node to one file'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "restore" -d 'Restore this management node from a backup'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "prune" -d 'Delete history older than [retention] now'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "store" -d 'Copy what provostd knows to another store'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "help" -d 'Show help on a command or a topic'
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l site -d 'Site file: which nodes run what' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l scripts -d 'Folder of scripts; all of it is published' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l key -d 'Secret key that signs' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l key-password-file -d 'File with the key\'s password; for several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l sign-command -d 'Command that signs, for a key in a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment, "$3" the file of the public key; it writes "$1.minisig", as minisign does' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l to -d 'Published folder: www of provostd.toml' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l to-channel -d 'Publish to the nodes of this channel only: see provostctl channel' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l group -d 'Group that may read the plans, a name or a number: that of provostd' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l valid-for -d 'Validity of this publication; nodes without state refuse it afterwards' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l refresh-key -d 'Public key that may refresh, and nothing else; or "off". Remembered; that of provostd by default' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l tls -d 'TLS port and CA of provostd, as provostd ca show --tls prints them; or "off". Remembered' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l generation-above -d 'Number the bundle and all plans above N: for nodes that have seen N already' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l format -d 'Format of what --lint-only or --rehearse finds' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l rehearse -d 'Show what would change on these nodes, by running it there without effect; publish nothing' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l fanout -d 'Number of nodes at once' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l timeout -d 'Time limit for each node' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l ssh-config -d 'Configuration file for ssh, in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l refresh -d 'Sign unchanged files again, which extends their validity'
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l check -d 'Check everything, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l diff -d 'Show in full what would change, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l allow-removal -d 'Publish even if many nodes lose all their scripts'
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l lint-only -d 'Check scripts and site.toml for mistakes only, also by shellcheck if it is installed'
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l no-lint -d 'Publish scripts despite syntax errors'
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l key -d 'Secret key that signs' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l key-password-file -d 'File with the key\'s password; for several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l sign-command -d 'Command that signs, for a key in a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment, "$3" the file of the public key; it writes "$1.minisig", as minisign does' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l to -d 'Published folder: www of provostd.toml' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l group -d 'Group that may read the plans, a name or a number: that of provostd' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l valid-for -d 'Validity of this publication; nodes without state refuse it afterwards' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l check -d 'Check everything, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l diff -d 'Show in full what would change, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l allow-removal -d 'Publish even if many nodes lose all their scripts'
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l key -d 'Secret key that signs' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l key-password-file -d 'File with the key\'s password; for several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l sign-command -d 'Command that signs, for a key in a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment, "$3" the file of the public key; it writes "$1.minisig", as minisign does' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l to -d 'Published folder: www of provostd.toml' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l group -d 'Group that may read the plans, a name or a number: that of provostd' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l valid-for -d 'Validity of this publication; nodes without state refuse it afterwards' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l check -d 'Check everything, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l diff -d 'Show in full what would change, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l allow-removal -d 'Publish even if many nodes lose all their scripts'
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and not __fish_seen_subcommand_from set list remove" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and not __fish_seen_subcommand_from set list remove" -f -a "set" -d 'Set the nodes of a channel, from the next publication on'
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and not __fish_seen_subcommand_from set list remove" -f -a "list" -d 'List the channels and their nodes'
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and not __fish_seen_subcommand_from set list remove" -f -a "remove" -d 'Remove a channel'
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -l key -d 'Secret key that signs' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -l key-password-file -d 'File with the key\'s password; for several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -l sign-command -d 'Command that signs, for a key in a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment, "$3" the file of the public key; it writes "$1.minisig", as minisign does' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -l to -d 'Published folder: www of provostd.toml' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from list" -l to -d 'Published folder: www of provostd.toml' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from list" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from remove" -l key -d 'Secret key that signs' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from remove" -l key-password-file -d 'File with the key\'s password; for several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from remove" -l sign-command -d 'Command that signs, for a key in a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment, "$3" the file of the public key; it writes "$1.minisig", as minisign does' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from remove" -l to -d 'Published folder: www of provostd.toml' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand history" -l to -d 'Published folder: www of provostd.toml' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand history" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand history" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand history" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand history" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand history" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand plan" -l diff -d 'Show how this node differs from another one instead' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand plan" -l site -d 'Site file: which nodes run what' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand plan" -l to -d 'Published folder, in place of a site file: www of provostd.toml' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand plan" -l script -d 'List the nodes that run this script instead' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand plan" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l site -d 'Site file: which nodes run what; without one, the plan is empty' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l node -d 'Node that it runs as; by default a node named try, with the plan of [defaults]' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l scripts -d 'Folder of scripts; that of the script by default' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l root -d 'Root folder of the system that the script changes (PROVOST_ROOT), in place of this machine' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l network -d 'Network that the script has: this machine\'s, or none. Requests to other machines do happen' -r -f -a "host\t'That of this machine, which the script can use and not change'
none\t'None'"
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l scratch -d 'Keep what changes meanwhile on this disk, not in memory' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l format -d 'How to print what changed' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l here -d 'Change this machine itself, or the system in --root; without it, show what would change, and change nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l keep -d 'Keep the temporary folder with its logs, also after a success'
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and not __fish_seen_subcommand_from new rotate show revoke" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and not __fish_seen_subcommand_from new rotate show revoke" -f -a "new" -d 'Create a key pair'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and not __fish_seen_subcommand_from new rotate show revoke" -f -a "rotate" -d 'Replace the key that signs by another one'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and not __fish_seen_subcommand_from new rotate show revoke" -f -a "show" -d 'Show the keys, and how many nodes trust each'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and not __fish_seen_subcommand_from new rotate show revoke" -f -a "revoke" -d 'Revoke a key: publishes again what all nodes have, which revokes it'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from new" -l out -d 'Folder for both files' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from new" -l key-password-file -d 'File with the key\'s password; for several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from new" -l password -d 'Protect the secret key by a password; asks for it'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from new" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l next -d 'New secret key, of provostctl key new; publish with it from then on' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l key -d 'Secret key that signs' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l key-password-file -d 'File with the key\'s password; for several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l sign-command -d 'Command that signs, for a key in a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment, "$3" the file of the public key; it writes "$1.minisig", as minisign does' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l to -d 'Published folder: www of provostd.toml' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l group -d 'Group that may read the plans, a name or a number: that of provostd' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l valid-for -d 'Validity of this publication; nodes without state refuse it afterwards' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l check -d 'Check everything, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l diff -d 'Show in full what would change, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l allow-removal -d 'Publish even if many nodes lose all their scripts'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from show" -l to -d 'Published folder: www of provostd.toml; by default, what provostd knows' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from show" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from show" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from show" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from show" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l key -d 'Secret key that signs' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l key-password-file -d 'File with the key\'s password; for several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l sign-command -d 'Command that signs, for a key in a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment, "$3" the file of the public key; it writes "$1.minisig", as minisign does' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l to -d 'Published folder: www of provostd.toml' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l group -d 'Group that may read the plans, a name or a number: that of provostd' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l valid-for -d 'Validity of this publication; nodes without state refuse it afterwards' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l check -d 'Check everything, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l diff -d 'Show in full what would change, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l allow-removal -d 'Publish even if many nodes lose all their scripts'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and not __fish_seen_subcommand_from xcat ansible warewulf" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and not __fish_seen_subcommand_from xcat ansible warewulf" -f -a "xcat" -d 'Import from an xCAT management node; lists what can\'t be carried over'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and not __fish_seen_subcommand_from xcat ansible warewulf" -f -a "ansible" -d 'Import an Ansible inventory, in INI or YAML; lists what can\'t be carried over'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and not __fish_seen_subcommand_from xcat ansible warewulf" -f -a "warewulf" -d 'Import nodes.conf of Warewulf 4; lists what can\'t be carried over'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -l mypostscripts -d 'Read what xCAT hands each node, usually in /tftpboot/mypostscripts, in place of its tables' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -l to -d 'File to write; standard output by default' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -l compare -d 'Print how each node\'s plan in SITE differs from the file that xCAT hands it today, in this folder' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -l site -d 'The site.toml that is compared' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -l from-xcat -d 'Run these commands here, on the xCAT management node, and read the package lists of its images'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from ansible" -l to -d 'File to write; standard output by default' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from ansible" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from warewulf" -l to -d 'File to write; standard output by default' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from warewulf" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l status -d 'Only nodes with this status or updatestatus' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l stage -d 'Only nodes that are or failed in this stage' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l cause -d 'Only nodes that failed for this cause: a word such as timeout, or the ID of @cause:ID' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l since -d 'Only nodes that changed their status within this time, such as 10m' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l sort -d 'Order of the rows' -r -f -a "name\t''
status\t''
since\t''
stage\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -s o -l output -d 'Print the names only, as one folded set for other tools: -o NODES' -r -f -a "NODES\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l failed -d 'Only nodes whose kickstart, boot or last rerun failed'
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l slow -d 'Only nodes with a step that takes, or took, over three times as long as usual'
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l group -d 'Group failures by cause: the default on a terminal, without NODES'
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l long -d 'List a row for each node: the default in a pipe, or with NODES'
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand show" -l runs -d 'Number of newest runs to show with their steps, at most 200' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand show" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand show" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand show" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand show" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand show" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand why" -l format -d 'How to print it' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand why" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand why" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand why" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand why" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l ssh-config -d 'Configuration file for ssh, in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -s f -l follow -d 'Follow the log of a running script until the script ends: by the node\'s reports, or by ssh if it has run for less than a minute'
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l output -d 'Show the output only, each line with its time and stream'
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l commands -d 'List the commands: start (UTC), duration, exit status, command'
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l failed -d 'Show only the commands that failed, each with the end of its output'
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand journal" -l ssh-config -d 'Configuration file for ssh, in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand journal" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand journal" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand journal" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand journal" -s f -l follow -d 'Follow the journal'
complete -c provostctl -n "__fish_provostctl_using_subcommand journal" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand watch" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand watch" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand watch" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand watch" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand watch" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l status -d 'Status or updatestatus, such as booted or synced' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l timeout -d 'Time limit, such as 90s or 1h 30m' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l since -d 'Accept only a status or failure newer than this: "now", as after a power cycle, or a time such as 10m. By default a status may be of any age, and a failure must be new' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l settle -d 'Wait until each node has the status or has failed, then list both'
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand remove" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand remove" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand remove" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand remove" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand remove" -l yes -d 'Don\'t ask: for scripts'
complete -c provostctl -n "__fish_provostctl_using_subcommand remove" -l dry-run -d 'Show what would be removed, and remove nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l server -d 'URL at which nodes reach provostd, such as http://10.0.0.1:8480; several are tried in order. Default: provostd\'s own guess' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l for -d 'Validity of the unused join token, such as 2h' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l raw -d 'Escape the script for this template engine' -r -f -a "jinja\t'Jinja2 with other delimiters than its own: BlueBanquise, Ansible, cloud-init'
cheetah\t'Cobbler\'s'
mako\t'Python\'s'
genshi\t'Bcfg2\'s'"
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l join -d 'Write a new join token into the script, with which the node gets its identity; for one node only'
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l token -d 'Write a new bearer token into the script, for a node without TLS; for one node only'
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and not __fish_seen_subcommand_from open close" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and not __fish_seen_subcommand_from open close" -f -a "open" -d 'Open a window: each of these nodes gets an identity when it first asks'
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and not __fish_seen_subcommand_from open close" -f -a "close" -d 'Close the window, for these nodes or for all'
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from open" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from open" -l for -d 'How long the window is open, such as 1h' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from open" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from open" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from open" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from open" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from close" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from close" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from close" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from close" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from close" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -l for -d 'Validity of an unused token, such as 30m' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -l from -d 'Accept the tokens from this network only, such as 10.0.0.0/8; that of a node whose environment has IPADDR, only from that address' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -l kernel-args -d 'Print kernel arguments, each with its node if there are several'
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand pending" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand pending" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand pending" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand pending" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand pending" -l long -d 'A row for each, also where many came from one address'
complete -c provostctl -n "__fish_provostctl_using_subcommand pending" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand approve" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand approve" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand approve" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand approve" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand reject" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand reject" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand reject" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand reject" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand revoke" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand revoke" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand revoke" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand revoke" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand revoke" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -l overlap -d 'Longest validity of an old token, such as 12h or 30d' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -l missing -d 'Only for nodes without a token'
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -l rotate -d 'Keep each old token valid until the new one is used, for --overlap at most'
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -l force -d 'Also for nodes that aren\'t published'
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l fanout -d 'Number of nodes at once' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l timeout -d 'Time limit for each node' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l ssh-config -d 'Configuration file for ssh, in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l format -d 'Format of the summary' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -s P -d 'Scripts with their arguments, such as "s1 p1 p2,s2"' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l dry-run -d 'Change nothing: show what it would change there, equal results together'
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l output -d 'Show what the script printed, equal outputs together'
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l site -d 'What nodes run' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l scripts -d 'The folder of scripts; all of it is published' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l key -d 'The secret key that signs it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l key-password-file -d 'File with the key\'s password; for several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l sign-command -d 'Command that signs, for a key in a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment, "$3" the file of the public key; it writes "$1.minisig", as minisign does' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l to -d 'The folder that provostd.toml calls www' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l group -d 'Group that may read the plans, that of provostd: a name or a number' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l valid-for -d 'How long nodes that remember no earlier publication accept it' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l fanout -d 'Number of nodes at once' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l timeout -d 'Time limit for each node' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l ssh-config -d 'Configuration file for ssh, in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l format -d 'Format of the summary' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l allow-removal -d 'Publish even if many nodes lose all their scripts'
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l dry-run -d 'Show what would be published, and which nodes would sync; change nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -l fanout -d 'Number of nodes at once' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -l timeout -d 'Time limit for each node' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -l ssh-config -d 'Configuration file for ssh, in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -l format -d 'Format of the summary' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -l fanout -d 'Number of nodes at once' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -l timeout -d 'Time limit for each node' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -l ssh-config -d 'Configuration file for ssh, in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -l format -d 'Format of the summary' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand release" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand release" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand release" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand release" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand release" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -l fanout -d 'Number of nodes at once' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -l timeout -d 'Time limit for each node' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -l ssh-config -d 'Configuration file for ssh, in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -s f -l file -d 'Read the nodes from a file' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -l to -d 'Folder for the bundles' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l dir -d 'The folder for the key, the configuration, the site and its scripts. With another one, provostd\'s own folder is in it, too' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l www -d 'The folder that nodes fetch from' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l address -d 'An address or a name by which nodes reach this machine; may be given several times. Without it, the address of the default route' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l public-key -d 'Make no key: this is the public half of the one by which --sign-command signs' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l key-password-file -d 'File with the key\'s password; for several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l sign-command -d 'Command that signs, for a key in a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment, "$3" the file of the public key; it writes "$1.minisig", as minisign does' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l key-password -d 'Protect the key that signs by a password, which is asked for'
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l dry-run -d 'Only list what would be made'
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and not __fish_seen_subcommand_from add list remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and not __fish_seen_subcommand_from add list remove" -f -a "add" -d 'Add an admin, and print the token'
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and not __fish_seen_subcommand_from add list remove" -f -a "list" -d 'List admins who have a token'
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and not __fish_seen_subcommand_from add list remove" -f -a "remove" -d 'End an admin\'s token, and the logins with it. Only by the socket on the management node'
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from add" -l role -d 'read; operate, which may also change what provostd knows; or publish, which may also change what nodes run' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from add" -l for -d 'Validity of the token, such as 12h or 30d' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from add" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from add" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from add" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from list" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from list" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from list" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from list" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from remove" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from remove" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from remove" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand audit" -l since -d 'Only changes of the last D, such as 12h or 30d' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand audit" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand audit" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand audit" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand audit" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand audit" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand expiry" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand expiry" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand expiry" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand expiry" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand expiry" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand compat" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c provostctl -n "__fish_provostctl_using_subcommand compat" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand compat" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand compat" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand compat" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand backup" -l to -d 'File to write; an existing one is replaced once the new one is complete' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand backup" -l config -d 'Configuration of provostd' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand backup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand restore" -l from -d 'File of provostctl backup' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand restore" -l config -d 'Configuration of provostd' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand prune" -l admin -d 'Address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand prune" -l ca -d 'CA file (PEM) of the server, for https: see provostd ca show' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand prune" -l token-file -d 'File with your token, for https: see provostctl admin add' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand prune" -l dry-run -d 'Show what would be deleted, and delete nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand prune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and not __fish_seen_subcommand_from copy" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and not __fish_seen_subcommand_from copy" -f -a "copy" -d 'Copy a store to another one, which must be empty'
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and __fish_seen_subcommand_from copy" -l from -d 'Store to read: sqlite:DATA, with the folder data of provostd.toml, or postgres://USER@HOST:PORT/NAME' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and __fish_seen_subcommand_from copy" -l to -d 'Store to fill, named likewise' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and __fish_seen_subcommand_from copy" -l password-file -d 'File with the database\'s password in its first line' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and __fish_seen_subcommand_from copy" -l database-ca -d 'CA file (PEM) of the database server; turns TLS on' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and __fish_seen_subcommand_from copy" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand help" -s h -l help -d 'Print help'
