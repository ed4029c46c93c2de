"""Sources that are fetched into a temporary folder first: buckets, Git repositories, standard input."""
