# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_provost_global_optspecs
    string join \n config= v/verbose h/help V/version
end

function __fish_provost_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_provost_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_provost_using_subcommand
    set -l cmd (__fish_provost_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c provost -n "__fish_provost_needs_command" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_needs_command" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_needs_command" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_needs_command" -s V -l version -d 'Print version'
complete -c provost -n "__fish_provost_needs_command" -f -a "boot" -d 'Run what this boot needs'
complete -c provost -n "__fish_provost_needs_command" -f -a "kickstart" -d 'Run the postscripts, from an installer, and leave in the new root what its boots need'
complete -c provost -n "__fish_provost_needs_command" -f -a "run" -d 'Run one script, or a list, whether or not it has run before'
complete -c provost -n "__fish_provost_needs_command" -f -a "try" -d 'Run one script on a workstation as a node would, in a temporary folder, without a management node'
complete -c provost -n "__fish_provost_needs_command" -f -a "status" -d 'Show the result of the last run'
complete -c provost -n "__fish_provost_needs_command" -f -a "log" -d 'Show a script\'s newest log: each command, what it printed and how it ended; without a name, of the script that failed or ran last'
complete -c provost -n "__fish_provost_needs_command" -f -a "check" -d 'Show the effective configuration and where each value comes from, and check that it works'
complete -c provost -n "__fish_provost_needs_command" -f -a "gather" -d 'Collect records, logs and the machine\'s facts in one file, log-bundle-ID.tar.gz'
complete -c provost -n "__fish_provost_needs_command" -f -a "analyze" -d 'Show why the last run failed, where the time went, and what else looks wrong'
complete -c provost -n "__fish_provost_needs_command" -f -a "report" -d 'Send the records that could not be sent yet, and renew this node\'s identity in time'
complete -c provost -n "__fish_provost_needs_command" -f -a "record" -d 'Add an entry to the journal of a service that is not run by provost, as lib-sh does'
complete -c provost -n "__fish_provost_needs_command" -f -a "fetch" -d 'Fetch one file for a script, verified by its digest, as lib-sh does'
complete -c provost -n "__fish_provost_needs_command" -f -a "sign-host-keys" -d 'Have ssh host keys of this node certified by the management node, as the postscript hostkeys does: public keys, or certificates that there are of them, on stdin, one a line; their certificates on stdout, in the same order'
complete -c provost -n "__fish_provost_needs_command" -f -a "release" -d 'Release this node if the guard holds it'
complete -c provost -n "__fish_provost_needs_command" -f -a "stamp" -d 'Mark steps as done in an image: the named ones, or all that don\'t run each time'
complete -c provost -n "__fish_provost_needs_command" -f -a "install" -d 'Have xCAT\'s own programs on this node call provost, or no longer'
complete -c provost -n "__fish_provost_needs_command" -f -a "xcatdsklspost" -d 'Do what xCAT\'s program of that name does, as its boot unit and updatenode call it'
complete -c provost -n "__fish_provost_needs_command" -f -a "xcatinstallpost" -d 'Do what xCAT\'s program of that name does: the first boot of a node that xCAT has installed'
complete -c provost -n "__fish_provost_needs_command" -f -a "reboot-request" -d 'In a script: request a reboot of the node after the script has succeeded'
complete -c provost -n "__fish_provost_using_subcommand boot" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand boot" -l continue -d 'Run what the last one left unfinished: from the step on that failed, as published now'
complete -c provost -n "__fish_provost_using_subcommand boot" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand boot" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand kickstart" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand kickstart" -l continue -d 'Run what the last one left unfinished: from the step on that failed, as published now'
complete -c provost -n "__fish_provost_using_subcommand kickstart" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand kickstart" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand run" -s P -d 'A list of scripts with their arguments, as in "s1 p1 p2,s2"' -r
complete -c provost -n "__fish_provost_using_subcommand run" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand run" -s x -l trace-lines -d 'Also log each line that bash runs, builtins and functions too, in this one run'
complete -c provost -n "__fish_provost_using_subcommand run" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand run" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand try" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand try" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand status" -l format -r -f -a "text\t'For people'
json\t'One document, for programs'"
complete -c provost -n "__fish_provost_using_subcommand status" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand status" -l wait -d 'First wait until the run that is in progress has ended, and exit as it did, or as the last run did'
complete -c provost -n "__fish_provost_using_subcommand status" -l any -d 'With --wait: don\'t wait in a script of the run that is in progress'
complete -c provost -n "__fish_provost_using_subcommand status" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provost -n "__fish_provost_using_subcommand log" -l format -r -f -a "text\t'For people'
json\t'One document, for programs'"
complete -c provost -n "__fish_provost_using_subcommand log" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand log" -s f -l follow -d 'Show what a running script\'s log grows by, until the script ends; without a name, of the one that runs'
complete -c provost -n "__fish_provost_using_subcommand log" -l output -d 'What was printed alone, each line with its time and stream'
complete -c provost -n "__fish_provost_using_subcommand log" -l commands -d 'A table of the commands: start (UTC), duration, exit status, command'
complete -c provost -n "__fish_provost_using_subcommand log" -l failed -d 'Only the commands that failed, each with the end of what was printed'
complete -c provost -n "__fish_provost_using_subcommand log" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provost -n "__fish_provost_using_subcommand check" -l format -r -f -a "text\t'For people'
json\t'One document, for programs'"
complete -c provost -n "__fish_provost_using_subcommand check" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand check" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provost -n "__fish_provost_using_subcommand gather" -l to -d 'The folder for it' -r -F
complete -c provost -n "__fish_provost_using_subcommand gather" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand gather" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand gather" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand analyze" -l file -d 'The bundle, instead of the argument' -r -F
complete -c provost -n "__fish_provost_using_subcommand analyze" -l format -r -f -a "text\t'For people'
json\t'One document, for programs'"
complete -c provost -n "__fish_provost_using_subcommand analyze" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand analyze" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand analyze" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provost -n "__fish_provost_using_subcommand report" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand report" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand report" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand record" -l file -d 'The journal, an array of records; it and its folder are made, and a damaged one is repaired' -r -F
complete -c provost -n "__fish_provost_using_subcommand record" -l service -d 'The service\'s name; that of the file without its ending, if none is given' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l stage -d 'The stage\'s name' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l result -d 'How it ended' -r -f -a "success\t''
failure\t''"
complete -c provost -n "__fish_provost_using_subcommand record" -l run -d 'The process that speaks, as PID.START.BOOT: its number, its start by field 22 of /proc/PID/stat, the kernel\'s boot_id. A run whose process is gone is closed as interrupted by the next start' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l pre-command -d 'The command before the service that this entry is of' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l post-command -d 'The command after the service that this entry is of' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l error-line -d 'Where it failed, as LINE FUNCTION FILE' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l called-from -d 'Where that function was called, as LINE FUNCTION FILE' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l error-message -d 'The last lines of output' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l command -d 'The command that failed' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l exit-code -d 'The exit status' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l cause -d 'Why it ended, if its exit status or signal isn\'t all: it was stopped in order' -r -f -a "interrupted\t''"
complete -c provost -n "__fish_provost_using_subcommand record" -l sync -d 'Before a success is recorded, write the file system of this file or folder to the disk' -r -F
complete -c provost -n "__fish_provost_using_subcommand record" -l signal -d 'The signal that ended it, e.g. SIGTERM' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand record" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand record" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand fetch" -l sha256 -d 'Its SHA-256, in hexadecimal; a file with another one is not written' -r
complete -c provost -n "__fish_provost_using_subcommand fetch" -l to -d 'Where it goes' -r -F
complete -c provost -n "__fish_provost_using_subcommand fetch" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand fetch" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand fetch" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand sign-host-keys" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand sign-host-keys" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand sign-host-keys" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand release" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand release" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand release" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand stamp" -l root -d 'The image\'s root folder' -r -F
complete -c provost -n "__fish_provost_using_subcommand stamp" -s P -d 'A list of scripts with their arguments, as in "s1 p1 p2,s2"' -r
complete -c provost -n "__fish_provost_using_subcommand stamp" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand stamp" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand stamp" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand install" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand install" -l xcat -d 'xcatdsklspost, and on a node that xCAT has installed xcatinstallpost, too'
complete -c provost -n "__fish_provost_using_subcommand install" -l remove -d 'Put back what was there before'
complete -c provost -n "__fish_provost_using_subcommand install" -l as-xcat -d 'Also configure this node to do what xCAT does where provost does otherwise, such as going on after a failure: provost.d/as-xcat.toml, which says what each line gives up'
complete -c provost -n "__fish_provost_using_subcommand install" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand install" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand xcatdsklspost" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand xcatdsklspost" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand xcatdsklspost" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand xcatinstallpost" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand xcatinstallpost" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand xcatinstallpost" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand reboot-request" -l config -d 'The configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand reboot-request" -s v -l verbose -d 'Show what the running script prints, on a terminal or not'
complete -c provost -n "__fish_provost_using_subcommand reboot-request" -s h -l help -d 'Print help'
