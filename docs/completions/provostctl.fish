# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_provostctl_global_optspecs
    string join \n admin= ca= token-file= h/help V/version
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

complete -c provostctl -n "__fish_provostctl_needs_command" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_needs_command" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_needs_command" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_needs_command" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_needs_command" -s V -l version -d 'Print version'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "init" -d 'Set up this management node: keys, configuration, an example of a site, and a provostd that serves it'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "key" -d 'Create keys that sign what is published, and replace one by another'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "publish" -d 'Check scripts and site.toml, sign them, and publish them for the nodes'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "channel" -d 'Name the nodes that get what is published before all others'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "promote" -d 'Publish to all nodes what a channel\'s nodes have'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "rollback" -d 'Publish again, as a newer generation and for all nodes, what was published before'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "history" -d 'Show what was published, by whom, and on which nodes it has run'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "plan" -d 'Show what a node will run, in order and with which environment, and the section of site.toml that each comes from'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "try" -d 'Run one script on this machine as a node would, in a temporary folder, without a management node. Exit statuses: those of `provost run`'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "import" -d 'Write a site.toml from another system\'s tables'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "token" -d 'Create new tokens that replace the nodes\' old ones; prints a line "NODE TOKEN" each'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "join" -d 'Create join tokens: with its own a node gets an identity once, in place of an earlier one; prints a line "NODE TOKEN" each'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "enroll" -d 'Give identities to nodes while they are provisioned'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "approve" -d 'Make a pending key a node\'s identity, in place of an earlier one'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "reject" -d 'Reject a pending key'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "revoke" -d 'Revoke identities and tokens of nodes, at once and for good'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "nodes" -d 'Show failures grouped by cause and the other nodes by status, or list nodes'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "show" -d 'Show what a node ran last, and why it failed'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "log" -d 'Show a script\'s log, from the newest run that has uploaded one, as those do that failed and those of diskless nodes, else by ssh: each command, what it printed and how it ended'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "journal" -d 'Show by ssh what a node\'s journal has of a unit, or of provost\'s own'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "pending" -d 'Show the keys that wait for `approve`, and the nodes that try to report without an identity or a token since provostd was started'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "expiry" -d 'Show what expires when: what is published, identities, join tokens, admins\' tokens, certificates'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "admin" -d 'Name the admins who may use provostd over TLS, each with a role and a token'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "audit" -d 'Show what was changed over the admin API: who, from where, what, when'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "compat" -d 'Show the versions of provostctl, provostd, the published files and the nodes\' programs. Exit statuses: 0 they work together, 1 a node\'s program isn\'t supported'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "release" -d 'Release nodes that the guard holds, so that they run at their next start'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "remove" -d 'Remove nodes from what provostd knows: status, runs, logs, identity and token. A node that still reports needs a new one, and a node of the published site stays listed as `defined`. Asks first; without a terminal it needs --yes. Exit statuses: 0 done, 1 failed, or the answer was no, 2 wrong usage, or --yes is missing'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "prune" -d 'Remove now what of the history is kept no longer, as [retention] in provostd.toml says; provostd does it every ten minutes'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "store" -d 'Move what provostd knows to another store'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "backup" -d 'Write all of this management node to one file, while provostd runs: what it knows, its keys, and what is published; not the key that signs'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "restore" -d 'Restore this management node from a backup: into an empty folder and an empty store, before provostd is started'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "gather" -d 'Collect the log bundles of `provost gather` from nodes by ssh; for a node that can\'t be reached, a bundle of what provostd has. Exit statuses: 0 all nodes sent theirs, 1 one didn\'t'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "rerun" -d 'Run a script on nodes by ssh, whether or not it has run before. Exit statuses: 0 all is well, 1 a node failed or couldn\'t be reached, 2 there is no such script, 124 some took too long'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "sync" -d 'Publish what has changed, then have nodes install the files of their lists by ssh, with the postscript syncfiles: xCAT\'s updatenode -F. Exit statuses: 0 all is well, 1 nothing was published, or a node failed or couldn\'t be reached, 2 wrong usage, or no syncfiles to publish, 124 some took too long'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "continue" -d 'Run on nodes by ssh what their last boot or kickstart left unfinished, from the script on that failed (`provost boot --continue`, `kickstart --continue`). Exit statuses: 0 all is well, 1 a node failed or couldn\'t be reached, 124 some took too long'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "boot" -d 'Run on nodes by ssh all that a boot needs (`provost boot`). Exit statuses: 0 all is well, 1 a node failed or couldn\'t be reached, 124 some took too long'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "snippet" -d 'Print the script that an installer runs at its end, such as a kickstart\'s %post'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "watch" -d 'Show failures grouped by cause and the other nodes by status, live, until you end it'
complete -c provostctl -n "__fish_provostctl_needs_command" -f -a "wait-for" -d 'Wait until all nodes have a status; also waits for provostd itself. Exit statuses: 0 all have it, 1 one failed, 2 wrong usage, 124 time is up'
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l dir -d 'The folder for the key, the configuration, the site and its scripts. With another one, provostd\'s own folder is in it, too' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l www -d 'The folder that nodes fetch from' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l address -d 'An address or a name by which nodes reach this machine; may be given several times. Without it, the address of the default route' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l public-key -d 'Make no key: this is the public half of the one by which --sign-command signs' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l key-password-file -d 'The file with the key\'s password, where nobody can be asked for it; of several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l sign-command -d 'What signs in place of the key\'s file, such as a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment; it writes the signature, as minisign does, to "$1.minisig"' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l key-password -d 'Protect the key that signs by a password, which is asked for'
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -l dry-run -d 'Only list what would be made'
complete -c provostctl -n "__fish_provostctl_using_subcommand init" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and not __fish_seen_subcommand_from new rotate show revoke" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and not __fish_seen_subcommand_from new rotate show revoke" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and not __fish_seen_subcommand_from new rotate show revoke" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and not __fish_seen_subcommand_from new rotate show revoke" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and not __fish_seen_subcommand_from new rotate show revoke" -f -a "new" -d 'Create a key pair, provost.key and provost.pub; prints the public key\'s line'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and not __fish_seen_subcommand_from new rotate show revoke" -f -a "rotate" -d 'Let another key sign what is published. Nodes that trust the old key accept the new one, and then the old one no more; run it again to see which nodes haven\'t fetched it yet'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and not __fish_seen_subcommand_from new rotate show revoke" -f -a "show" -d 'Show which key signs, which ones it has replaced, and how many nodes trust each'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and not __fish_seen_subcommand_from new rotate show revoke" -f -a "revoke" -d 'Let a key count no more on any node: what all nodes have is published again, and says so'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from new" -l out -d 'The folder for both' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from new" -l key-password-file -d 'The file with the key\'s password, where nobody can be asked for it; of several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from new" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from new" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from new" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from new" -l password -d 'Protect the secret key by a password, which is asked for'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from new" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l next -d 'The new secret key, made by provostctl key new; publish with it from then on' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l key -d 'The secret key that has signed it, and signs it again' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l key-password-file -d 'The file with the key\'s password, where nobody can be asked for it; of several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l sign-command -d 'What signs in place of the key\'s file, such as a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment; it writes the signature, as minisign does, to "$1.minisig"' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l to -d 'The folder that provostd.toml calls www' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l group -d 'The group that may read the plans, which provostd runs as: a name or a number' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l valid-for -d 'For how long nodes that remember nothing may use it' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l check -d 'Do everything but writing'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l diff -d 'Show in full what would change, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -l allow-removal -d 'Publish it even where many nodes lose all their scripts'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from rotate" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from show" -l to -d 'The folder that provostd.toml calls www; without it, as provostd knows it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from show" -l format -d 'How to print it' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from show" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from show" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from show" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l key -d 'The secret key that has signed it, and signs it again' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l key-password-file -d 'The file with the key\'s password, where nobody can be asked for it; of several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l sign-command -d 'What signs in place of the key\'s file, such as a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment; it writes the signature, as minisign does, to "$1.minisig"' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l to -d 'The folder that provostd.toml calls www' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l group -d 'The group that may read the plans, which provostd runs as: a name or a number' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l valid-for -d 'For how long nodes that remember nothing may use it' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l check -d 'Do everything but writing'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l diff -d 'Show in full what would change, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -l allow-removal -d 'Publish it even where many nodes lose all their scripts'
complete -c provostctl -n "__fish_provostctl_using_subcommand key; and __fish_seen_subcommand_from revoke" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l site -d 'What nodes run' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l scripts -d 'The folder of scripts; all of it is published' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l key -d 'The secret key that signs it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l key-password-file -d 'The file with the key\'s password, where nobody can be asked for it; of several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l sign-command -d 'What signs in place of the key\'s file, such as a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment; it writes the signature, as minisign does, to "$1.minisig"' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l to -d 'The folder that provostd.toml calls www' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l to-channel -d 'Only for the nodes of this channel, before all others: see provostctl channel set' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l group -d 'The group that may read the plans, which provostd runs as: a name or a number' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l valid-for -d 'For how long nodes that remember nothing may use it' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l refresh-key -d 'Who may refresh it and nothing else; or off. It stays. Without it, the provostd that serves it' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l tls -d 'How nodes reach provostd by TLS, the line that provostd ca show prints; or off. It stays' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l generation-above -d 'Number the bundle and all plans above N: where nodes have seen N, and nothing here knows it' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l format -d 'How to print what --lint-only finds' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l refresh -d 'Sign again what has not changed, so that it can be used for longer'
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l check -d 'Do everything but writing'
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l diff -d 'Show in full what would change, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l allow-removal -d 'Publish it even where many nodes lose all their scripts'
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l lint-only -d 'Look for mistakes in scripts and site.toml, and do no more; with shellcheck\'s errors, if it is installed. Exit statuses: 0 there is none, 1 there is one, be it only a warning'
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -l no-lint -d 'Publish scripts in spite of syntax errors'
complete -c provostctl -n "__fish_provostctl_using_subcommand publish" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and not __fish_seen_subcommand_from set list remove" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and not __fish_seen_subcommand_from set list remove" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and not __fish_seen_subcommand_from set list remove" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and not __fish_seen_subcommand_from set list remove" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and not __fish_seen_subcommand_from set list remove" -f -a "set" -d 'Say which nodes a channel has, from the next publication on. A node is in one channel at most'
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and not __fish_seen_subcommand_from set list remove" -f -a "list" -d 'List the channels and their nodes'
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and not __fish_seen_subcommand_from set list remove" -f -a "remove" -d 'Remove a channel. Its nodes keep what they have until something newer is published to all'
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -l key -d 'The secret key that signs what is published' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -l key-password-file -d 'The file with the key\'s password, where nobody can be asked for it; of several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -l sign-command -d 'What signs in place of the key\'s file, such as a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment; it writes the signature, as minisign does, to "$1.minisig"' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -l to -d 'The folder that provostd.toml calls www' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from list" -l to -d 'The folder that provostd.toml calls www' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from list" -l format -d 'How to print it' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from list" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from list" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from list" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from remove" -l key -d 'The secret key that signs what is published' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from remove" -l key-password-file -d 'The file with the key\'s password, where nobody can be asked for it; of several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from remove" -l sign-command -d 'What signs in place of the key\'s file, such as a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment; it writes the signature, as minisign does, to "$1.minisig"' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from remove" -l to -d 'The folder that provostd.toml calls www' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from remove" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from remove" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from remove" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand channel; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l key -d 'The secret key that has signed it, and signs it again' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l key-password-file -d 'The file with the key\'s password, where nobody can be asked for it; of several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l sign-command -d 'What signs in place of the key\'s file, such as a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment; it writes the signature, as minisign does, to "$1.minisig"' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l to -d 'The folder that provostd.toml calls www' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l group -d 'The group that may read the plans, which provostd runs as: a name or a number' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l valid-for -d 'For how long nodes that remember nothing may use it' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l check -d 'Do everything but writing'
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l diff -d 'Show in full what would change, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -l allow-removal -d 'Publish it even where many nodes lose all their scripts'
complete -c provostctl -n "__fish_provostctl_using_subcommand promote" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l key -d 'The secret key that has signed it, and signs it again' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l key-password-file -d 'The file with the key\'s password, where nobody can be asked for it; of several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l sign-command -d 'What signs in place of the key\'s file, such as a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment; it writes the signature, as minisign does, to "$1.minisig"' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l to -d 'The folder that provostd.toml calls www' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l group -d 'The group that may read the plans, which provostd runs as: a name or a number' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l valid-for -d 'For how long nodes that remember nothing may use it' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l check -d 'Do everything but writing'
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l diff -d 'Show in full what would change, and write nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -l allow-removal -d 'Publish it even where many nodes lose all their scripts'
complete -c provostctl -n "__fish_provostctl_using_subcommand rollback" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand history" -l to -d 'The folder that provostd.toml calls www' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand history" -l format -d 'How to print it' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand history" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand history" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand history" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand plan" -l diff -d 'Show in what this node differs from another one instead' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand plan" -l site -d 'What nodes run' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand plan" -l to -d 'The folder that provostd.toml calls www: what is published there, in place of a site.toml' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand plan" -l script -d 'List the nodes that run this script instead' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand plan" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand plan" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand plan" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand plan" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l site -d 'What nodes run' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l node -d 'The node that it is run for' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l scripts -d 'The folder of scripts, if that isn\'t the folder of the script' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l root -d 'Let the script work on the system in this folder (PROVOST_ROOT), not on this machine' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -l keep -d 'Keep the temporary folder with its logs after a success too'
complete -c provostctl -n "__fish_provostctl_using_subcommand try" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and not __fish_seen_subcommand_from xcat ansible warewulf" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and not __fish_seen_subcommand_from xcat ansible warewulf" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and not __fish_seen_subcommand_from xcat ansible warewulf" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and not __fish_seen_subcommand_from xcat ansible warewulf" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and not __fish_seen_subcommand_from xcat ansible warewulf" -f -a "xcat" -d 'From an xCAT management node; lists what can\'t be carried over'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and not __fish_seen_subcommand_from xcat ansible warewulf" -f -a "ansible" -d 'From an inventory of Ansible, in INI or YAML; lists what can\'t be carried over'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and not __fish_seen_subcommand_from xcat ansible warewulf" -f -a "warewulf" -d 'From Warewulf\'s nodes.conf, of version 4; lists what can\'t be carried over'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -l mypostscripts -d 'Read what xCAT hands each node, usually in /tftpboot/mypostscripts, in place of its tables' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -l to -d 'The file to write; without this, standard output' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -l compare -d 'Print what each node would run otherwise by SITE than by the file that xCAT hands it today, in this folder' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -l site -d 'The site.toml that is compared' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -l from-xcat -d 'Run these commands here, on the xCAT management node, and read the package lists of its images'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from xcat" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from ansible" -l to -d 'The file to write; without this, standard output' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from ansible" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from ansible" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from ansible" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from ansible" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from warewulf" -l to -d 'The file to write; without this, standard output' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from warewulf" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from warewulf" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from warewulf" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand import; and __fish_seen_subcommand_from warewulf" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -l overlap -d 'For how long an old token counts, such as 12h or 30d' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -l missing -d 'Only for nodes that have no token'
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -l rotate -d 'The old token of each node counts until the new one has been used, and for --overlap at most'
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -l force -d 'Also for names that aren\'t in what is published'
complete -c provostctl -n "__fish_provostctl_using_subcommand token" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -l for -d 'For how long a token counts that isn\'t used, such as 30m' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -l from -d 'Only from a network, such as 10.0.0.0/8. A node whose environment has IPADDR may use its token from that address alone' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -l kernel-args -d 'Print the argument for the kernel\'s command line; before it the node, where there are several'
complete -c provostctl -n "__fish_provostctl_using_subcommand join" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and not __fish_seen_subcommand_from open close" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and not __fish_seen_subcommand_from open close" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and not __fish_seen_subcommand_from open close" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and not __fish_seen_subcommand_from open close" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and not __fish_seen_subcommand_from open close" -f -a "open" -d 'Give each of these nodes an identity when it asks first, while it is defined or installing and hasn\'t booted'
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and not __fish_seen_subcommand_from open close" -f -a "close" -d 'End that before its time, for these nodes or for all'
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from open" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from open" -l for -d 'For how long, such as 1h' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from open" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from open" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from open" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from open" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from close" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from close" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from close" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from close" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand enroll; and __fish_seen_subcommand_from close" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand approve" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand approve" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand approve" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand approve" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand reject" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand reject" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand reject" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand reject" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand revoke" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand revoke" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand revoke" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand revoke" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand revoke" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l status -d 'Only nodes with this status or updatestatus' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l stage -d 'Only nodes that are or failed in this stage' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l cause -d 'Only nodes that failed for this cause: a word such as timeout, or the ID of @cause:ID' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l since -d 'Only nodes that changed their status within this time, such as 10m' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l sort -d 'The order of the rows' -r -f -a "name\t'By name'
status\t'By status, in the order of a node\'s life'
since\t'The newest status first'
stage\t'By stage and cause'"
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -s o -l output -d 'Print the names alone, as one folded set for other tools: -o NODES' -r -f -a "NODES\t'The names, such as cn[001-512]'"
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l format -d 'How to print it' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l failed -d 'Only nodes whose kickstart, boot or last rerun failed'
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l group -d 'Group the failures by cause, as on a terminal without NODES'
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -l long -d 'A row for each node, as in a pipe or with NODES'
complete -c provostctl -n "__fish_provostctl_using_subcommand nodes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand show" -l runs -d 'How many of its newest runs to show with their steps, 200 at most' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand show" -l format -d 'How to print it' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand show" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand show" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand show" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l ssh-config -d 'A configuration file for ssh in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l format -d 'How to print it' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -s f -l follow -d 'Show what a running script\'s log grows by, until the script ends: by the node\'s reports, or by ssh if it has run for less than a minute'
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l output -d 'What was printed alone, each line with its time and stream'
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l commands -d 'A table of the commands: start (UTC), duration, exit status, command'
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -l failed -d 'Only the commands that failed, each with the end of what was printed'
complete -c provostctl -n "__fish_provostctl_using_subcommand log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand journal" -l ssh-config -d 'A configuration file for ssh in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand journal" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand journal" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand journal" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand journal" -s f -l follow -d 'Go on with what is added, until you end it'
complete -c provostctl -n "__fish_provostctl_using_subcommand journal" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand pending" -l format -d 'How to print it' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand pending" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand pending" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand pending" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand pending" -l long -d 'A row for each, also where many came from one address'
complete -c provostctl -n "__fish_provostctl_using_subcommand pending" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand expiry" -l format -d 'How to print it' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand expiry" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand expiry" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand expiry" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand expiry" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and not __fish_seen_subcommand_from add list remove" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and not __fish_seen_subcommand_from add list remove" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and not __fish_seen_subcommand_from add list remove" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and not __fish_seen_subcommand_from add list remove" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and not __fish_seen_subcommand_from add list remove" -f -a "add" -d 'Let an admin use the API over TLS; prints the token, which is shown only now. Only by the socket on the management node'
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and not __fish_seen_subcommand_from add list remove" -f -a "list" -d 'List the admins who have a token'
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and not __fish_seen_subcommand_from add list remove" -f -a "remove" -d 'End an admin\'s token, and the logins with it. Only by the socket on the management node'
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from add" -l role -d 'What the admin may do: read; operate also changes what provostd knows; publish also changes what nodes run' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from add" -l for -d 'For how long the token counts, such as 12h or 30d' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from add" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from add" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from add" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from list" -l format -d 'How to print it' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from list" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from list" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from list" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from remove" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from remove" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from remove" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand admin; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand audit" -l since -d 'Only what was changed in this time until now, such as 12h or 30d' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand audit" -l format -d 'How to print it' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand audit" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand audit" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand audit" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand audit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand compat" -l format -d 'How to print it' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand compat" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand compat" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand compat" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand compat" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand release" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand release" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand release" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand release" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand release" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand remove" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand remove" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand remove" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand remove" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand remove" -l yes -d 'Remove them without a question, which a script can\'t answer'
complete -c provostctl -n "__fish_provostctl_using_subcommand remove" -l dry-run -d 'Only show what would be removed'
complete -c provostctl -n "__fish_provostctl_using_subcommand remove" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand prune" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand prune" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand prune" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand prune" -l dry-run -d 'Only show how much it is'
complete -c provostctl -n "__fish_provostctl_using_subcommand prune" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and not __fish_seen_subcommand_from copy" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and not __fish_seen_subcommand_from copy" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and not __fish_seen_subcommand_from copy" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and not __fish_seen_subcommand_from copy" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and not __fish_seen_subcommand_from copy" -f -a "copy" -d 'Copy all that a store holds to another one, which has to be empty: nodes, tokens, runs, records and logs. A copy that is cut off leaves it empty: run it again'
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and __fish_seen_subcommand_from copy" -l from -d 'The store to read: sqlite:DATA, with the folder that provostd.toml calls data, or postgres://USER@HOST:PORT/NAME' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and __fish_seen_subcommand_from copy" -l to -d 'The store to fill, named as the other one' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and __fish_seen_subcommand_from copy" -l password-file -d 'The database\'s password, on the file\'s first line, as [postgres] in provostd.toml has it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and __fish_seen_subcommand_from copy" -l database-ca -d 'The certificates, PEM, of whom signs the database server\'s: with it, connections have TLS' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and __fish_seen_subcommand_from copy" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and __fish_seen_subcommand_from copy" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and __fish_seen_subcommand_from copy" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand store; and __fish_seen_subcommand_from copy" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand backup" -l to -d 'The file to write; one that is there is replaced when the new one is whole' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand backup" -l config -d 'The daemon\'s configuration, which names its folders and its store' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand backup" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand backup" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand backup" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand backup" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand restore" -l from -d 'The file that provostctl backup has written' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand restore" -l config -d 'The daemon\'s configuration, which names its folders and its store' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand restore" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand restore" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand restore" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand restore" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -l fanout -d 'How many nodes at once' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -l timeout -d 'How long a node may take' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -l ssh-config -d 'A configuration file for ssh in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -l to -d 'The folder for the bundles' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand gather" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l fanout -d 'How many nodes at once' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l timeout -d 'How long a node may take' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l ssh-config -d 'A configuration file for ssh in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l format -d 'How to print the summary' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -s P -d 'A list of scripts with their arguments, such as "s1 p1 p2,s2"' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand rerun" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l site -d 'What nodes run' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l scripts -d 'The folder of scripts; all of it is published' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l key -d 'The secret key that signs it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l key-password-file -d 'The file with the key\'s password, where nobody can be asked for it; of several keys, a line each' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l sign-command -d 'What signs in place of the key\'s file, such as a token or an HSM; --key then names the public key. sh runs it for each file: "$1" is the file, "$2" the trusted comment; it writes the signature, as minisign does, to "$1.minisig"' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l to -d 'The folder that provostd.toml calls www' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l group -d 'The group that may read the plans, which provostd runs as: a name or a number' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l valid-for -d 'For how long nodes that remember nothing may use it' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l fanout -d 'How many nodes at once' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l timeout -d 'How long a node may take' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l ssh-config -d 'A configuration file for ssh in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l format -d 'How to print the summary' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l allow-removal -d 'Publish it even where many nodes lose all their scripts'
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -l dry-run -d 'Show what would be published, and which nodes would sync; change nothing'
complete -c provostctl -n "__fish_provostctl_using_subcommand sync" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -l fanout -d 'How many nodes at once' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -l timeout -d 'How long a node may take' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -l ssh-config -d 'A configuration file for ssh in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -l format -d 'How to print the summary' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand continue" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -l fanout -d 'How many nodes at once' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -l timeout -d 'How long a node may take' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -l ssh-config -d 'A configuration file for ssh in place of yours' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -l format -d 'How to print the summary' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand boot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l server -d 'The URL at which nodes reach provostd, such as http://10.0.0.1:8480; several are tried in order. Without it, provostd\'s own guess' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l for -d 'For how long the join token counts that isn\'t used, such as 2h' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l raw -d 'Print it such that it comes out of this template engine as it is' -r -f -a "jinja\t'Jinja2 with other delimiters than its own: BlueBanquise, Ansible, cloud-init'
cheetah\t'Cobbler\'s'
mako\t'Python\'s'
genshi\t'Bcfg2\'s'"
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l join -d 'Create a join token for the node, with which it gets its identity, and write it into the script; for one node only'
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -l token -d 'Create a new token for the node and write it into the script, where nodes don\'t report over TLS; for one node only'
complete -c provostctl -n "__fish_provostctl_using_subcommand snippet" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provostctl -n "__fish_provostctl_using_subcommand watch" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand watch" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand watch" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand watch" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand watch" -s h -l help -d 'Print help'
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -s f -l file -d 'Read the nodes from this file in place of NODES: on each line what NODES may be; # begins a comment' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l status -d 'A status or an updatestatus, preferably one that lasts, such as booted or synced' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l timeout -d 'How long to wait, such as 90s or 1h 30m' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l since -d 'Accept a status, and a failure, only if it is newer than this: "now", as after a power cycle, or a time such as 10m. Without it a status may be of any age, and a failure must be new' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l admin -d 'The address of provostd\'s admin API: unix:PATH, https://HOST:PORT or http://ADDRESS:PORT' -r
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l ca -d 'For https: the file with the authority\'s certificate, as `provostd ca show` prints it' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l token-file -d 'For https: the file with the token that `provostctl admin add` has printed' -r -F
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l any -d 'Accept a status of any age, as is the default'
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -l settle -d 'Wait until each node has the status or has failed, then list both'
complete -c provostctl -n "__fish_provostctl_using_subcommand wait-for" -s h -l help -d 'Print help'
