package words

// Edit is a run of elements that both lists have ('='), only the earlier one ('-') or only the later one ('+').
type Edit struct {
	Mark  byte
	Texts []string
}

// maxTable bounds the work for a comparison. Of lists that need more, everything between the first and the last
// difference counts as replaced.
const maxTable = 4 << 20

// Diff returns the shortest way from one list to another: lines of a text, or words of a sentence. Removed elements
// come before those that replace them.
func Diff(before, now []string) []Edit {
	head, tail, shorter := 0, 0, min(len(before), len(now))
	for head < shorter && before[head] == now[head] {
		head++
	}
	for tail < shorter-head && before[len(before)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	var e edits
	e.add('=', before[:head]...)
	e.between(before[head:len(before)-tail], now[head:len(now)-tail])
	e.add('=', before[len(before)-tail:]...)
	return e
}

// DiffLines returns Diff as lines with the prefixes "+ ", "- " and "  ".
func DiffLines(before, now []string) []string {
	prefixes := map[byte]string{'=': "  ", '-': "- ", '+': "+ "}
	var lines []string
	for _, edit := range Diff(before, now) {
		lines = append(lines, Texts(edit.Texts, func(line string) string { return prefixes[edit.Mark] + line })...)
	}
	return lines
}

type edits []Edit

func (e *edits) add(mark byte, texts ...string) {
	switch last := len(*e) - 1; {
	case len(texts) == 0:
	case last >= 0 && (*e)[last].Mark == mark:
		(*e)[last].Texts = append((*e)[last].Texts[:len((*e)[last].Texts):len((*e)[last].Texts)], texts...)
	default:
		*e = append(*e, Edit{mark, texts})
	}
}

// between adds the edits between two lists by their longest common subsequence.
func (e *edits) between(before, now []string) {
	columns := len(now) + 1
	if len(before)*columns > maxTable {
		e.add('-', before...)
		e.add('+', now...)
		return
	}
	common := make([]int32, (len(before)+1)*columns) // at [i][j]: the length of that of before[i:] and now[j:]
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if before[i] == now[j] {
				common[i*columns+j] = common[(i+1)*columns+j+1] + 1
			} else {
				common[i*columns+j] = max(common[(i+1)*columns+j], common[i*columns+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(before) && j < len(now) {
		switch {
		case before[i] == now[j]:
			e.add('=', now[j])
			i, j = i+1, j+1
		case common[(i+1)*columns+j] >= common[i*columns+j+1]:
			e.add('-', before[i])
			i++
		default:
			e.add('+', now[j])
			j++
		}
	}
	e.add('-', before[i:]...)
	e.add('+', now[j:]...)
}
