# Converts the log of the attacks into docs/attacks.md.
BEGIN {
	print "# Attacks\n"
	print "`make attacks` writes this page. Every attack runs against its own collector. The kernel limits the data segment of that process"
	print "(`RLIMIT_DATA`) to 1 GiB, or to 4 GiB if the memory bound of the attack is above 1 GiB. The collector must stay below the bound,"
	print "keep running, and deliver a valid profile afterwards. The tests in `internal/testkit/e2e/hostile` define the expected outcome of"
	print "each attack.\n"
	print "- *Bombs* are small bodies that decompress to large ones.\n- *Reproduced* attacks once stopped a collector or made it drop all data."
	print "- *Response* is the HTTP status, or the gRPC status (0 is success). For HTTP, 0 means that the client never completes its request,"
	print "  so there is no response.\n"
	print "[Long texts in long lists](#long-texts-in-long-lists) covers all payloads that the collector accepts.\n"
	print "| Attack | Sent, bytes | Response | Duration | Peak memory, MiB | Bound, MiB | Verdict |"
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
	if (suite == "GRPC") suite = "gRPC"
	if (suite != "") title = suite ": " title
	printf "| %s | %s | %s |\n", title, row[$3] == "" ? " | | | |" : row[$3], verdict
}
END {
	print "\n## Long texts in long lists\n"
	print "`TestHostilePairs` starts from one valid payload of every kind: every envelope item type, both profile formats, the store, security,"
	print "NEL and cron endpoints, the four OTLP signals, and Measure's events, spans and builds. For **every pair** of a text and a list in the"
	print "payload, it lengthens both. It also replaces attribute values with objects that contain a long text. Every payload passes through the"
	print "receivers, linking, all transforms, both modes of the Sentry exporter, OTLP/HTTP for every signal, and the viewer, in one collector"
	print "limited to 1 GiB. The test fails if:\n"
	print "- one destination (a backend, the client or the log) receives more than 16 bytes per byte of the request plus 128 KiB; for OTLP"
	print "  requests, Sentry may receive 32 bytes per byte plus 4 MiB;\n- one destination, except Sentry for OTLP requests, receives more than 8 additional bytes per byte added to the text, plus 16 KiB;"
	print "- the viewer sends a response of more than 8 MiB, or a download of more than 16 bytes per byte of the request plus 128 KiB;"
	print "- a request takes more than 10 µs of CPU time per byte plus 1 s;\n- the collector exceeds its memory bound or ends;\n- a valid profile does not arrive at every destination afterwards.\n"
	print "`make attacks` sends every pair with large texts and lists. CI uses small ones; it sends every 23rd pair, and each text together with"
	print "all lists at once. The figures below are from a run with " sizes " sizes. *nothing* means that no text was lengthened, and *all lists*"
	print "that every list was lengthened.\n"
	print "| Payload | Pairs | Sent, bytes | Most output bytes per input byte | Pair and destination | Peak memory, MiB | CPU per byte, µs | Verdict |"
	print "|---|---|---|---|---|---|---|---|"
	for (i = 1; i <= n; i++) print products[i]
}
