# Read by sourced_file.
load_site() {
    echo "loading $1"
    [ -r "$1" ] || return 1
}
