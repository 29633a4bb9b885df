package builtin

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"
)

// mathSource is an expression in the parser's own language: typographic operators are ASCII, products without a sign
// have one, "5!" is a call of factorial, and whole numbers that are too large for the parser are names.
type mathSource struct {
	text   []rune
	places []int               // where each character of text stands in the expression
	wholes map[string]*big.Int // the large numbers, by their names
}

// placed is err with the place in the expression, where it has one in the source.
func (s *mathSource) placed(err error) error { return moved(err, s.places) }

// moved gives an error of the parser another place, at most that of the last character.
func moved(err error, places []int) error {
	var at *file.Error
	if !errors.As(err, &at) || len(places) == 0 {
		return err
	}
	told := *at
	told.From = places[max(0, min(told.From, len(places)-1))]
	return &told
}

// readMath writes expression as the parser reads it. Errors carry their place in the expression as a *file.Error.
func readMath(expression string) (*mathSource, error) {
	spaced, places := spaceNumbers(plainOperators(expression))
	for i := range len(spaced) - 1 { // the library takes what follows for a comment
		if pair := string(spaced[i : i+2]); pair == "//" || pair == "/*" {
			message := `unexpected "` + pair + `" (write / to divide, floor(7/2) for whole numbers)`
			wrong := &file.Error{Message: message}
			wrong.From, wrong.To = i, i+2
			return nil, moved(wrong, places)
		}
	}
	tokens, err := lexer.Lex(file.NewSource(string(spaced)))
	if err != nil {
		return nil, moved(err, places)
	}
	r := &mathReader{wholes: make(map[string]*big.Int), last: nowhere}
	for _, token := range tokens {
		if token.Is(lexer.EOF) {
			break
		}
		if err := r.take(token, string(spaced[token.From:token.To])); err != nil {
			return nil, moved(err, places)
		}
	}
	source := &mathSource{wholes: r.wholes}
	for i, p := range r.pieces {
		if i > 0 {
			source.text, source.places = append(source.text, ' '), append(source.places, places[p.at])
		}
		for offset, char := range []rune(p.text) {
			at := p.at
			if !p.made {
				at += offset
			}
			source.text, source.places = append(source.text, char), append(source.places, places[at])
		}
	}
	return source, nil
}

// plainOperators makes ASCII of typographic operators, character for character.
func plainOperators(expression string) []rune {
	return []rune(strings.Map(func(r rune) rune {
		switch r {
		case '×', '·', '⋅':
			return '*'
		case '÷', '∕':
			return '/'
		case '−':
			return '-'
		}
		return r
	}, expression))
}

// spaceNumbers parts a number from the name after it, "2pi", which the lexer refuses. It returns where each character
// stood. An exponent is a part of its number, and so is what follows 0x, 0b and 0o.
func spaceNumbers(text []rune) (spaced []rune, places []int) {
	isWord := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; at < len(text); {
		from := at
		switch {
		case unicode.IsDigit(text[at]):
			at = numberEnd(text, at)
		case isWord(text[at]):
			for at < len(text) && isWord(text[at]) {
				at++
			}
		default:
			at++
		}
		for i := from; i < at; i++ {
			spaced, places = append(spaced, text[i]), append(places, i)
		}
		if unicode.IsDigit(text[from]) && at < len(text) && unicode.IsLetter(text[at]) {
			spaced, places = append(spaced, ' '), append(places, at)
		}
	}
	return spaced, places
}

// numberEnd is where the number that begins at from ends.
func numberEnd(text []rune, from int) int {
	isDigit := func(at int) bool { return at < len(text) && (unicode.IsDigit(text[at]) || text[at] == '_') }
	at := from
	if text[at] == '0' && at+1 < len(text) && strings.ContainsRune("xXbBoO", text[at+1]) {
		for at++; at < len(text) && (unicode.IsLetter(text[at]) || isDigit(at)); at++ {
		}
		return at
	}
	for isDigit(at) {
		at++
	}
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		sign := at + 1
		if sign < len(text) && (text[sign] == '+' || text[sign] == '-') {
			sign++
		}
		for isDigit(sign) {
			sign++
			at = sign
		}
	}
	return at
}

// piece is a part of the source: a token, or what was made at its place.
type piece struct {
	text string
	at   int
	made bool
}

// nowhere stands for the beginning of an operand where none has ended.
const nowhere = -1

// mathReader turns tokens into the pieces of a source.
type mathReader struct {
	pieces []piece
	wholes map[string]*big.Int
	last   int // the piece that begins the operand which ended last; nowhere after an operator
	// divided reports whether a division stands before, in the same product: "1 / 2 pi" is read in two ways.
	divided bool
	open    []bracket
}

// bracket is an open one: where the operand begins that it is a part of, and divided of what is around it.
type bracket struct {
	begin   int
	divided bool
}

// take reads the next token, as it is written.
func (r *mathReader) take(token lexer.Token, written string) error {
	refuse := func(format string, arguments ...any) error {
		return &file.Error{Location: token.Location, Message: fmt.Sprintf(format, arguments...)}
	}
	switch {
	case token.Is(lexer.Operator, "|", "::"):
		// They call functions in ways that leave no trace in the syntax tree.
		return refuse("the operator %s is not arithmetic", token.Value)
	case token.Is(lexer.Operator, "!") && r.last != nowhere:
		r.pieces = slices.Insert(r.pieces, r.last, piece{"factorial", token.From, true}, piece{"(", token.From, true})
		r.pieces = append(r.pieces, piece{")", token.From, true})
		return nil
	case token.Kind == lexer.Bracket && slices.Contains([]string{"(", "[", "{"}, token.Value):
		begin := len(r.pieces)
		if r.last != nowhere {
			if called := r.pieces[len(r.pieces)-1]; token.Value == "(" && isName(called) {
				begin = r.last
			} else if token.Value == "(" {
				if err := r.multiply(token, refuse); err != nil {
					return err
				}
				begin = len(r.pieces)
			}
		}
		r.open = append(r.open, bracket{begin, r.divided})
		r.last, r.divided = nowhere, false
	case token.Kind == lexer.Bracket:
		if n := len(r.open); n > 0 {
			r.last, r.divided = r.open[n-1].begin, r.open[n-1].divided
			r.open = r.open[:n-1]
		}
	case token.Kind == lexer.Identifier:
		if strings.HasPrefix(token.Value, "_") { // kept apart, because large numbers take such names
			return refuse("unknown name %q", token.Value)
		}
		if r.last != nowhere {
			if !slices.Contains(mathNames(), token.Value) && !isConstant(token.Value) {
				return refuse("unknown name %q%s", token.Value, unsupported(token.Value))
			}
			if err := r.multiply(token, refuse); err != nil {
				return err
			}
		}
		r.last = len(r.pieces)
	case token.Kind == lexer.Number:
		written = r.large(token, written)
		r.last = len(r.pieces)
	default:
		r.operator(token)
	}
	r.pieces = append(r.pieces, piece{written, token.From, false})
	return nil
}

// operator ends an operand.
func (r *mathReader) operator(token lexer.Token) {
	switch {
	case token.Is(lexer.Operator, "/", "%"):
		r.divided = true
	case token.Is(lexer.Operator, "^", "**"), r.last == nowhere: // a sign
	default:
		r.divided = false
	}
	r.last = nowhere
}

// multiply puts a sign between two operands that have none.
func (r *mathReader) multiply(token lexer.Token, refuse func(string, ...any) error) error {
	if r.divided {
		return refuse("a product without * after a division can be read in two ways: " +
			"write *, and brackets where they are meant")
	}
	r.pieces = append(r.pieces, piece{"*", token.From, true})
	return nil
}

// large gives a whole number that is too large for the parser a name.
func (r *mathReader) large(token lexer.Token, written string) string {
	const int64Digits = 18 // that many always fit
	digits := strings.ReplaceAll(token.Value, "_", "")
	if len(digits) <= int64Digits || strings.ContainsAny(digits, ".eExXoObB") {
		return written
	}
	whole, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return written // the parser says why
	}
	name := fmt.Sprintf("_%d", len(r.wholes))
	r.wholes[name] = whole
	return name
}

// isName reports whether a piece is a name, as it was written: those of large numbers begin with no letter.
func isName(p piece) bool { return !p.made && unicode.IsLetter([]rune(p.text)[0]) }

func isConstant(name string) bool {
	_, ok := mathConstant(name)
	return ok
}

// unsupported returns the end of a message about an unknown name after a number. One or two letters are rather a unit
// than a typo.
func unsupported(name string) string {
	if near := suggestion(name, mathNames()); near != "" && len(name) > 2 {
		return near
	}
	return " (units, variables and complex numbers are not supported)"
}
