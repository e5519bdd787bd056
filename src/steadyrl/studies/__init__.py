"""Studies: what the library is used to find out."""
