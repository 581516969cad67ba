# Turns the log of the attacks into docs/attacks.md.
BEGIN {
	print "# Attacks\n"
	print "Written by `make attacks`. Each attack has a collector of its own, which the kernel refuses more than 4 GiB of data, and must stay"
	print "below the memory that is stated for it. Afterwards it lives and a valid profile comes through; what becomes of the hostile one is"
	print "stated in `internal/e2e/hostile_*_test.go`. Answers are statuses of HTTP, or of gRPC; 0 of connections: the request has no end.\n"
	print "| Attack | Sent, bytes | Answer | after | Peak memory, MiB | Bound | Verdict |"
	print "|---|---|---|---|---|---|---|"
}
/^=== RUN .*\// { name = $3 }
/ bytes, answered / {
	match($0, /[0-9]+ bytes, /)
	split(substr($0, RSTART), w, " ")
	sub(/,/, "", w[6])
	row[name] = sprintf("%s | %s | %s | %s | %s", w[1], w[4], w[6], w[9], w[11])
}
/^ +--- (PASS|FAIL|SKIP): .*\// {
	title = $3
	sub(/^[^\/]*\//, "", title)
	gsub(/_/, " ", title)
	suite = $3
	sub(/^TestHostile/, "", suite)
	sub(/\/.*/, "", suite)
	if (suite != "") title = suite ": " title
	printf "| %s | %s | %s |\n", title, row[$3] == "" ? " | | | |" : row[$3], $2 == "PASS:" ? "held" : "**broke through**"
}
