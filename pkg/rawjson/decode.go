package rawjson

import (
	"bytes"
	"encoding/json"
)

// Decode reads valid JSON into maps, slices and json.Number, so that no digit is lost.
func Decode(text []byte) (any, error) {
	if json.Valid(text) {
		d := decoder{text: text}
		return d.value(), nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return value, nil
}

// CheckAndDecode is Decode for text that Check accepts. The error is Check's.
func CheckAndDecode(text []byte) (any, error) {
	if err := Check(text); err != nil {
		return nil, err
	}
	d := decoder{text: text}
	return d.value(), nil
}

// decoder reads valid JSON once, without the buffers of a json.Decoder, which cost more than most arguments.
type decoder struct {
	text []byte
	at   int
}

// value reads the next value.
func (d *decoder) value() any {
	switch begin := d.skip(); d.text[begin] {
	case '{':
		object := map[string]any{}
		for d.enter(); d.text[d.skip()] != '}'; {
			name := d.quoted()
			d.skip()
			object[name] = d.value()
		}
		d.at++
		return object
	case '[':
		array := []any{}
		for d.enter(); d.text[d.skip()] != ']'; {
			array = append(array, d.value())
		}
		d.at++
		return array
	case '"':
		return d.quoted()
	default:
		d.at = ValueEnd(d.text, begin)
		return scalar(d.text[begin:d.at])
	}
}

// enter passes the bracket that opens a value.
func (d *decoder) enter() { d.at = d.skip() + 1 }

// skip passes what stands before a value or a bracket that closes one, and returns where that is.
func (d *decoder) skip() int {
	for d.at = SpaceEnd(d.text, d.at); d.text[d.at] == ',' || d.text[d.at] == ':'; {
		d.at = SpaceEnd(d.text, d.at+1)
	}
	return d.at
}

// quoted reads a string.
func (d *decoder) quoted() string {
	begin := d.at
	d.at = StringEnd(d.text, begin)
	return Unquote(d.text[begin:d.at])
}

// scalar reads a number or a word.
func scalar(text []byte) any {
	switch text[0] {
	case 't', 'f':
		return text[0] == 't'
	case 'n':
		return nil
	}
	return json.Number(text)
}
