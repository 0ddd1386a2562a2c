# Read by source_by_variable.
echo "in the library"
ls /nonexistent
