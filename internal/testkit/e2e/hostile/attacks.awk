# Converts the log of the attacks into docs/attacks.md.
BEGIN {
	print "# Attacks\n"
	print "This page lists hostile requests and the collector's response to each. `make attacks` sends them and generates this page.\n"
	print "Each attack runs against a new collector. `RLIMIT_DATA` limits its data segment to 1 GiB, or to 4 GiB if the memory bound is above 1 GiB. To"
	print "pass, the collector must stay below the bound, keep running, and deliver a valid profile afterward.\n"
	print "- **Bomb**: a small body that decompresses to a large one."
	print "- **Reproduced**: an attack that once stopped a collector or made it drop all data."
	print "- **Response**: the HTTP or gRPC status. For gRPC, 0 means success. For HTTP, 0 means no response: the client never completes its request.\n"
	print "For accepted payloads, see [Long strings in long lists](#long-strings-in-long-lists).\n"
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
	if (suite == "HTTP2") suite = "HTTP/2"
	if (suite == "Inputs") suite = "Image"
	if (suite == "InputsTLS") suite = "Image with TLS"
	if (suite != "") title = suite ": " title
	printf "| %s | %s | %s |\n", title, row[$3] == "" ? " | | | |" : row[$3], verdict
}
END {
	print "\n## Limits missing upstream\n"
	print "The collector's `otlp` receiver (v0.165.0) has no settings against these inputs, which need no credentials. Measured in 1 GiB, with the"
	print "configuration of the container image, without and with [otlp_limit](../otlplimitextension/README.md):\n"
	print "| Input | Without | With |"
	print "|---|---|---|"
	print "| HTTP or gRPC: 8 clients, messages of 4 kB gzip with 2 million empty messages of any signal, or in JSON | ended within 1 s | 124 MiB |"
	print "| HTTP with TLS: 102 connections with 250 stalled requests each | ended | 353 MiB with 150 connections |"
	print "| gRPC: 64 calls of 400 kB with 400,000 headers each, because `MaxHeaderListSize` is 16 MiB | ended | 146 MiB |"
	print "| gRPC: 300 messages of 4 MiB that stall before the last byte, because a call has no time limit | ended | 459 MiB |"
	print "| JSON nested 720,000 levels deep (46 kB gzip, at the default limit of 20 MiB) | 504 MiB | rejected above 10,000 levels |"
	print "| HTTP or gRPC: many connections | 18 KiB each, without a limit | no change |"
	print "| gRPC with `auth`: messages of clients without credentials | decompressed and decoded before they are rejected | decompressed, not decoded |\n"
	print "Protobuf messages that are nested deep do not end the receiver since v0.165.0: 6 MB of gzip with 1.8 million levels receive 400, at 97 MiB."
	print "Windows of zstd are limited to 8 MiB per request since then; before, 64 requests of 86 bytes ended the collector."
	print "\n## Long strings in long lists\n"
	print "`TestHostilePairs` tests whether small requests can cause large output. It starts with valid payloads of every kind: envelope items, both"
	print "profile formats, the store, security, NEL and cron endpoints, all four OTLP signals, and Measure's events, spans and builds. For **every"
	print "pair** of a string and a list in a payload, it lengthens both. It also replaces attribute values with objects that contain a long string."
	print "Each payload passes through the receivers, linking, all transforms, both modes of the Sentry exporter, OTLP/HTTP and the viewer, in one"
	print "collector limited to 1 GiB. The test fails if:\n"
	print "- a backend, the client or the log receives more than 16 bytes per request byte, plus 128 KiB (for Sentry output from OTLP requests: 32"
	print "  bytes per request byte, plus 4 MiB);"
	print "- one of them receives more than 8 additional bytes per byte added to the string, plus 16 KiB (except Sentry output from OTLP requests);"
	print "- the viewer sends a response above 8 MiB, or a download of more than 16 bytes per request byte, plus 128 KiB;"
	print "- a request takes more than 10 µs of CPU time per byte, plus 1 s;"
	print "- the collector exceeds its memory bound or exits;"
	print "- a valid profile does not reach every destination afterward.\n"
	print "`make attacks` sends every pair with large strings and lists. CI sends every 23rd pair with small ones and, for each string, one payload"
	print "in which that string and all lists are lengthened. The figures below are from a run with " sizes " sizes. In the column *Pair and"
	print "destination*, *nothing* means that no string was lengthened, and *all lists* means that every list was lengthened.\n"
	print "| Payload | Pairs | Sent, bytes | Most output bytes per input byte | Pair and destination | Peak memory, MiB | CPU per byte, µs | Verdict |"
	print "|---|---|---|---|---|---|---|---|"
	for (i = 1; i <= n; i++) print products[i]
}
