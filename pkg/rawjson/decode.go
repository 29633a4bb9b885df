package rawjson

import (
	"bytes"
	"encoding/json"
)

// Decode reads JSON into maps, slices and json.Number, so that no digit is lost.
func Decode(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

// CheckAndDecode is Decode for text that Check accepts. The error is Check's.
func CheckAndDecode(text []byte) (any, error) {
	if err := Check(text); err != nil {
		return nil, err
	}
	return Decode(text)
}
