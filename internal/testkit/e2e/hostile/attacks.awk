# Writes docs/attacks.md with a new table of classes, from the page as it is (the first file) and the logs of the attacks.
# The variable list names the file that receives a line for each attack.
BEGIN {
	print "# Attacks and their results\n\n| Class | Attack | Sent, bytes | Response | Duration | Peak memory, MiB | Bound, MiB | CPU, s | Verdict |" > list
	print "|---|---|---|---|---|---|---|---|---|" > list
	products = "\n| Payload | Pairs | Sent, bytes | Most output bytes per input byte | Pair and destination | Peak memory, MiB | CPU per byte, µs | Verdict |\n|---|---|---|---|---|---|---|---|\n"
}
NR == FNR { page[++lines] = $0; next }
/^=== (RUN|NAME|CONT) / {
	name = $3
	class = name
	sub(/\/.*/, "", class)
	sub(/^TestHostile/, "", class)
	if (!(class in inputs)) {
		classes[++n] = class
		inputs[class] = 0
	}
}
/^ +[a-z_]+\.go:[0-9]+: varies / {
	sub(/^.*: varies /, "")
	what[class] = $0
}
# N bytes, answered N in D, peak memory N of N MiB, D of CPU
/ bytes, answered / {
	match($0, /[0-9]+ bytes, /)
	split(substr($0, RSTART), w, " ")
	sub(/,/, "", w[6])
	row[name] = sprintf("%s | %s | %s | %s | %s | %s", w[1], w[4], w[6], w[9], w[11], w[13] == "" ? "" : seconds(w[13]))
	inputs[class]++
	note(w[9], w[11], w[13] == "" || w[1] < 10000 ? 0 : seconds(w[13]) * 1e6 / w[1])
}
# pairs of SHAPE: N; N bytes; N out; worst PAIR; N of N MiB; N µs; …
/ pairs of / {
	sub(/^.* pairs of /, "")
	split($0, part, "; ")
	shape = count = part[1]
	sub(/: [0-9]+$/, "", shape)
	sub(/^.*: /, "", count)
	sub(/ bytes/, "", part[2])
	sub(/ out/, "", part[3])
	sub(/worst /, "", part[4])
	split(part[5], w, " ")
	sub(/ µs/, "", part[6])
	pairs[name] = sprintf("%s | %s | %s | %s | `%s` | %s | %s", shape, count, part[2], part[3], part[4], w[1], part[6])
	inputs[class] += count
	if (part[3] + 0 > output) output = part[3] + 0
	note(w[1], w[3], part[6] + 0)
}
/^ +--- (PASS|FAIL|SKIP): .*\// {
	verdict = $2 == "PASS:" ? "passed" : $2 == "SKIP:" ? "not run" : "failed"
	title = $3
	sub(/^[^\/]*\//, "", title)
	gsub(/_/, " ", title)
	if ($3 in pairs) products = products sprintf("| %s | %s |\n", pairs[$3], verdict)
	else printf "| %s | %s | %s | %s |\n", class, title, row[$3] == "" ? " | | | | |" : row[$3], verdict > list
}
END {
	printf "%s", products > list
	for (i = 1; i <= lines; i++) {
		if (page[i] !~ /^\| Class \|/) {
			print page[i]
			continue
		}
		while (page[i + 1] ~ /^\|/) i++
		print "| Class | The inputs vary | Inputs | Peak memory closest to its bound, MiB |"
		print "|---|---|---|---|"
		for (k = 1; k <= n; k++) {
			class = classes[k]
			printf "| %s | %s%s%s | %d | %s |\n", class, what[class],
				class == "Pairs" ? ": at most " output " bytes to one destination per input byte" : "",
				cpu[class] ? sprintf(", and %.2f µs of CPU per byte", cpu[class]) : "", inputs[class], memory[class]
		}
	}
}

# note keeps the worst figures of the class: the memory that comes closest to its bound, measured from an idle collector, and the CPU time per byte.
function note(peak, bound, perByte,  share) {
	share = (peak - 50) / (bound - 50)
	if (!(class in memory) || share > closest[class]) {
		closest[class] = share
		memory[class] = peak " of " bound
	}
	if (perByte > cpu[class]) cpu[class] = perByte
}

# seconds of a duration as Go prints it.
function seconds(text) {
	return text ~ /µs$/ ? text / 1e6 : text ~ /ms$/ ? text / 1e3 : text ~ /m.*s$/ ? text * 60 + substr(text, index(text, "m") + 1) : text + 0
}
