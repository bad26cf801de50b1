"""What all runners of this folder share: declared commands, processes that end, cases that are counted, leftovers that are found."""
