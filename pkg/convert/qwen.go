package convert

// qwenDialect returns the dialect of the function-calling format of Qwen (CONV-4): type and function, and in it name,
// description and parameters, nothing else and none left out. Qwen itself takes any name; the rule is that of the
// servers that run it.
func qwenDialect() dialect {
	exact := functionLayout()
	exact.described = true
	return dialect{
		label:   "Qwen",
		names:   portableNames(),
		layout:  exact,
		exact:   true,
		prepare: wrapFunction,
	}
}
