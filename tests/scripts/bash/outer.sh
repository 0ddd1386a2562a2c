# Read by nested_source.
. ./leave.sh
run_all() {
    echo "running"
    leave 3
}
