complete -c provostd -l config -d 'The configuration' -r -F
complete -c provostd -s h -l help -d 'Print help'
complete -c provostd -s V -l version -d 'Print version'
