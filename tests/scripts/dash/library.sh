# Read by sourced_file.
set -e
no_such_command
