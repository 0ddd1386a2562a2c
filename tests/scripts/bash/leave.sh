# Read by outer.sh.
leave() {
    echo "leaving"
    exit 3
}
