# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_provost_global_optspecs
    string join \n config= h/help V/version
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

complete -c provost -n "__fish_provost_needs_command" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_needs_command" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_needs_command" -s V -l version -d 'Print version'
complete -c provost -n "__fish_provost_needs_command" -f -a "boot" -d 'Run what this boot needs'
complete -c provost -n "__fish_provost_needs_command" -f -a "kickstart" -d 'Run the postscripts, at the end of an installation'
complete -c provost -n "__fish_provost_needs_command" -f -a "run" -d 'Run a script again, or a list of them'
complete -c provost -n "__fish_provost_needs_command" -f -a "try" -d 'Run one script on a workstation as a node would'
complete -c provost -n "__fish_provost_needs_command" -f -a "release" -d 'Release this node if the guard holds it'
complete -c provost -n "__fish_provost_needs_command" -f -a "status" -d 'Show the result of the last run'
complete -c provost -n "__fish_provost_needs_command" -f -a "log" -d 'Show a script\'s newest log: commands, output, exit statuses'
complete -c provost -n "__fish_provost_needs_command" -f -a "analyze" -d 'Show why the last run failed, and where the time went'
complete -c provost -n "__fish_provost_needs_command" -f -a "check" -d 'Show the effective configuration, and check that it works'
complete -c provost -n "__fish_provost_needs_command" -f -a "gather" -d 'Collect records, logs and facts in one file'
complete -c provost -n "__fish_provost_needs_command" -f -a "fetch" -d 'Fetch a file and verify its digest, as lib-sh does'
complete -c provost -n "__fish_provost_needs_command" -f -a "record" -d 'Add an entry to another service\'s journal, as lib-sh does'
complete -c provost -n "__fish_provost_needs_command" -f -a "reboot-request" -d 'Request a reboot for when the script that runs has succeeded'
complete -c provost -n "__fish_provost_needs_command" -f -a "sign-host-keys" -d 'Have this node\'s ssh host keys certified'
complete -c provost -n "__fish_provost_needs_command" -f -a "report" -d 'Send what couldn\'t be sent, and renew the identity'
complete -c provost -n "__fish_provost_needs_command" -f -a "stamp" -d 'Mark steps as done in an image'
complete -c provost -n "__fish_provost_needs_command" -f -a "install" -d 'Replace xCAT\'s programs by calls of provost, or undo it'
complete -c provost -n "__fish_provost_needs_command" -f -a "xcatdsklspost" -d 'Stand in for xCAT\'s program, for its boot unit and updatenode'
complete -c provost -n "__fish_provost_needs_command" -f -a "xcatinstallpost" -d 'Stand in for xCAT\'s program at the first boot'
complete -c provost -n "__fish_provost_using_subcommand boot" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand boot" -l continue -d 'Run what the last one left unfinished: the step that failed, and those after it'
complete -c provost -n "__fish_provost_using_subcommand boot" -s v -l verbose -d 'Show what scripts print, also without a terminal'
complete -c provost -n "__fish_provost_using_subcommand boot" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand kickstart" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand kickstart" -l continue -d 'Run what the last one left unfinished: the step that failed, and those after it'
complete -c provost -n "__fish_provost_using_subcommand kickstart" -s v -l verbose -d 'Show what scripts print, also without a terminal'
complete -c provost -n "__fish_provost_using_subcommand kickstart" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provost -n "__fish_provost_using_subcommand run" -l network -d 'With --dry-run: the network that it has, the machine\'s own or none' -r -f -a "host\t'That of this machine, which it can use and not change'
none\t'None'"
complete -c provost -n "__fish_provost_using_subcommand run" -l scratch -d 'With --dry-run: keep what changes on this disk meanwhile, not in memory' -r -F
complete -c provost -n "__fish_provost_using_subcommand run" -l format -d 'With --dry-run: how what changed is printed' -r -f -a "text\t''
json\t''"
complete -c provost -n "__fish_provost_using_subcommand run" -l bundle -d 'With --dry-run: run what this folder has, as provostctl publish --rehearse sends it' -r -F
complete -c provost -n "__fish_provost_using_subcommand run" -s P -d 'Scripts with their arguments, such as "s1 p1 p2,s2"' -r
complete -c provost -n "__fish_provost_using_subcommand run" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand run" -s x -l trace-lines -d 'Also log each line that bash runs, builtins and functions too'
complete -c provost -n "__fish_provost_using_subcommand run" -l dry-run -d 'Run it for real where it can\'t change this machine, and show what it would have changed'
complete -c provost -n "__fish_provost_using_subcommand run" -s v -l verbose -d 'Show what scripts print, also without a terminal'
complete -c provost -n "__fish_provost_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provost -n "__fish_provost_using_subcommand release" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand release" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand status" -l format -r -f -a "text\t''
json\t''"
complete -c provost -n "__fish_provost_using_subcommand status" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand status" -l wait -d 'Wait for the run in progress, and exit with its exit status, or with that of the last run'
complete -c provost -n "__fish_provost_using_subcommand status" -l any -d 'With --wait: don\'t wait in a script of the run in progress'
complete -c provost -n "__fish_provost_using_subcommand status" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand log" -l format -r -f -a "text\t''
json\t''"
complete -c provost -n "__fish_provost_using_subcommand log" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand log" -s f -l follow -d 'Follow the log of a running script until the script ends; by default of the one that runs'
complete -c provost -n "__fish_provost_using_subcommand log" -l output -d 'Show the output only, each line with its time and stream'
complete -c provost -n "__fish_provost_using_subcommand log" -l commands -d 'List the commands: start (UTC), duration, exit status, command'
complete -c provost -n "__fish_provost_using_subcommand log" -l failed -d 'Show only the commands that failed, each with the end of its output'
complete -c provost -n "__fish_provost_using_subcommand log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provost -n "__fish_provost_using_subcommand analyze" -l file -d 'Bundle, in place of the argument' -r -F
complete -c provost -n "__fish_provost_using_subcommand analyze" -l format -r -f -a "text\t''
json\t''"
complete -c provost -n "__fish_provost_using_subcommand analyze" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand analyze" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand check" -l format -r -f -a "text\t''
json\t''"
complete -c provost -n "__fish_provost_using_subcommand check" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provost -n "__fish_provost_using_subcommand gather" -l to -d 'Folder for the file' -r -F
complete -c provost -n "__fish_provost_using_subcommand gather" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand gather" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand fetch" -l sha256 -d 'SHA-256 of the file, in hexadecimal; another file is not written' -r
complete -c provost -n "__fish_provost_using_subcommand fetch" -l to -d 'File to write' -r -F
complete -c provost -n "__fish_provost_using_subcommand fetch" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand fetch" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand record" -l file -d 'The journal, an array of records; it and its folder are made, and a damaged one is repaired' -r -F
complete -c provost -n "__fish_provost_using_subcommand record" -l service -d 'The service\'s name; that of the file without its ending, if none is given' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l stage -d 'The stage\'s name' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l result -d 'How it ended' -r -f -a "success\t''
failure\t''"
complete -c provost -n "__fish_provost_using_subcommand record" -l run -d 'Process that runs it, as PID.START.BOOT: its number, its start by field 22 of /proc/PID/stat, the kernel\'s boot_id. A run whose process is gone is closed as interrupted by the next start' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l pre-command -d 'The command before the service that this entry is of' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l post-command -d 'The command after the service that this entry is of' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l error-line -d 'Where it failed, as LINE FUNCTION FILE' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l called-from -d 'Where that function was called, as LINE FUNCTION FILE' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l error-message -d 'The last lines of output' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l command -d 'The command that failed' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l exit-code -d 'The exit status' -r
complete -c provost -n "__fish_provost_using_subcommand record" -l cause -d 'Why it ended, if not by its own exit status or signal: it was stopped in order' -r -f -a "interrupted\t''"
complete -c provost -n "__fish_provost_using_subcommand record" -l sync -d 'Sync this path\'s file system before recording success' -r -F
complete -c provost -n "__fish_provost_using_subcommand record" -l signal -d 'The signal that ended it, e.g. SIGTERM' -r
complete -c provost -n "__fish_provost_using_subcommand record" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand reboot-request" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand sign-host-keys" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand sign-host-keys" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provost -n "__fish_provost_using_subcommand report" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand report" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand stamp" -l root -d 'Root folder of the image' -r -F
complete -c provost -n "__fish_provost_using_subcommand stamp" -s P -d 'Scripts with their arguments, such as "s1 p1 p2,s2"' -r
complete -c provost -n "__fish_provost_using_subcommand stamp" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand stamp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c provost -n "__fish_provost_using_subcommand install" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand install" -l xcat -d 'Replace xcatdsklspost, and xcatinstallpost on a node that xCAT has installed'
complete -c provost -n "__fish_provost_using_subcommand install" -l remove -d 'Restore the originals'
complete -c provost -n "__fish_provost_using_subcommand install" -l as-xcat -d 'Also configure this node to behave as xCAT does, such as continuing after a failure: provost.d/as-xcat.toml, which says what each line gives up'
complete -c provost -n "__fish_provost_using_subcommand install" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand xcatdsklspost" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand xcatdsklspost" -s v -l verbose -d 'Show what scripts print, also without a terminal'
complete -c provost -n "__fish_provost_using_subcommand xcatdsklspost" -s h -l help -d 'Print help'
complete -c provost -n "__fish_provost_using_subcommand xcatinstallpost" -l config -d 'Configuration file' -r -F
complete -c provost -n "__fish_provost_using_subcommand xcatinstallpost" -s v -l verbose -d 'Show what scripts print, also without a terminal'
complete -c provost -n "__fish_provost_using_subcommand xcatinstallpost" -s h -l help -d 'Print help'
