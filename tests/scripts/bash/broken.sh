# Read by syntax_in_library.
echo first
done
