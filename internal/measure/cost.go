package measure

// cost counts the list elements in the text of a JSON value, and how deep it is nested: what has to be known before it is
// decoded, because a list of a million numbers would become a million of whatever the list is said to hold. Text that is no
// JSON gives some count or other.
func cost(text []byte) (elements, depth int) {
	var inList [maxDepth + 1]bool
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return elements, depth
			}
			if inList[depth] = c == '['; inList[depth] {
				elements++
			}
		case (c == '}' || c == ']') && depth > 0:
			depth--
		case c == ',' && inList[depth]:
			elements++
		}
	}
	return elements, 0
}
