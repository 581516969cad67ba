# Turns the log of the attacks into docs/attacks.md.
BEGIN {
	print "# Attacks\n"
	print "`make attacks` writes this page. Every attack runs against its own collector, and the kernel limits the data of that process to"
	print "1 GiB, or to 4 GiB if the memory bound of the attack is higher. The collector must stay below the memory bound. Afterwards it must"
	print "still run and deliver a valid profile. The tests in `internal/testkit/e2e/hostile` state the expected outcome of the hostile data."
	print "*Response* is the HTTP status, or the gRPC status (0 is success). For HTTP, 0 means that the request does not end.\n"
	print "[Long texts in long lists](#long-texts-in-long-lists) covers all payloads that the collector accepts.\n"
	print "| Attack | Sent, bytes | Response | Duration | Peak memory, MiB | Bound | Verdict |"
	print "|---|---|---|---|---|---|---|"
}
/^=== (RUN|NAME|CONT) .*\// { name = $3 }
/ bytes, answered / {
	match($0, /[0-9]+ bytes, /)
	split(substr($0, RSTART), w, " ")
	sub(/,/, "", w[6])
	row[name] = sprintf("%s | %s | %s | %s | %s", w[1], w[4], w[6], w[9], w[11])
}
# pairs of SHAPE: N; N bytes; N out; worst PAIR; N of N MiB; N µs; …
/ pairs of / {
	sub(/^.* pairs of /, "")
	split($0, part, "; ")
	split(part[1], w, ": ")
	shape = part[1]
	sub(/: [0-9]+$/, "", shape)
	count = part[1]
	sub(/^.*: /, "", count)
	sub(/ bytes/, "", part[2])
	sub(/ out/, "", part[3])
	sub(/worst /, "", part[4])
	sub(/ of .*/, "", part[5])
	sub(/ µs/, "", part[6])
	pairs[name] = sprintf("%s | %s | %s | %s | `%s` | %s | %s", shape, count, part[2], part[3], part[4], part[5], part[6])
}
/^ +--- (PASS|FAIL|SKIP): .*\// {
	verdict = $2 == "PASS:" ? "passed" : $2 == "SKIP:" ? "not run" : "**failed**"
	title = $3
	sub(/^[^\/]*\//, "", title)
	gsub(/_/, " ", title)
	suite = $3
	sub(/^TestHostile/, "", suite)
	sub(/\/.*/, "", suite)
	if (suite == "Pairs") {
		products[++n] = sprintf("| %s | %s |", pairs[$3] == "" ? title " | | | | | |" : pairs[$3], verdict)
		next
	}
	if (suite != "") title = suite ": " title
	printf "| %s | %s | %s |\n", title, row[$3] == "" ? " | | | |" : row[$3], verdict
}
END {
	print "\n## Long texts in long lists\n"
	print "`TestHostilePairs` starts from one valid payload of every shape: every envelope item type, both profile formats, the store, security, NEL"
	print "and cron endpoints, the four OTLP signals, and Measure's events, spans and builds. It makes one text long and one list long, for"
	print "**all pairs** of a text and a list. Attribute values are also replaced by objects with a long text. Every payload passes through the"
	print "receivers, linking, all transforms, both modes of the Sentry exporter, OTLP/HTTP for every signal, and the viewer, in one"
	print "collector with 1 GiB. The test fails if one destination (a backend, the client or the log) receives more than 16 bytes per byte of"
	print "the request plus 128 KiB, or more than 8 bytes for each byte by which the text grows plus 16 KiB; if an answer of the viewer is"
	print "larger than 8 MiB; if a request takes more than 10 µs of CPU time per byte plus 1 s; or if a valid profile does not arrive"
	print "at every destination afterwards. `make attacks` sends every pair in large sizes; CI sends every 23rd pair in small sizes, and every"
	print "text with all lists. The figures below are from a run in " sizes " sizes.\n"
	print "| Payload | Pairs | Sent, bytes | Most output bytes per input byte | Pair and destination | Peak memory, MiB | CPU per byte, µs | Verdict |"
	print "|---|---|---|---|---|---|---|---|"
	for (i = 1; i <= n; i++) print products[i]
}
