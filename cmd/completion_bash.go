package cmd

import "strings"

// bashWords replaces the parts of the package bash-completion that cobra's script needs, in case that is not installed.
// Bash also splits words at = : @, which occur in toolx's arguments.
const bashWords = `    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    # bash-completion is not installed: words are what stands between blanks.
    local i piece blanks rest=${COMP_LINE:0:COMP_POINT}
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        piece=${COMP_WORDS[i]}
        if [[ $piece == *[\<\>]* ]]; then
            return 1 # a redirection is the shell's own
        fi
        blanks=${rest%%[![:blank:]]*}
        rest=${rest#"$blanks"}
        if [[ $i -eq 0 || -n $blanks ]]; then
            words+=("")
        fi
        if [[ $rest != "$piece"* ]]; then
            piece=$rest # the cursor is within the word
        fi
        words[${#words[@]}-1]+=$piece
        rest=${rest#"$piece"}
    done
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    if ((cword > 0)); then
        prev=${words[cword-1]}
    fi
    if ! declare -F _filedir >/dev/null 2>&1; then
        _filedir() { __toolx_filedir "$@"; }
    fi
`

// bashFiles replaces bash-completion's _filedir: it completes folders (-d), or folders and files with one of the
// endings in $1.
const bashFiles = `__toolx_filedir()
{
    local name
    compopt -o filenames 2>/dev/null
    while IFS='' read -r name; do
        if [[ -d $name || -z ${1-} ]]; then
            COMPREPLY+=("$name")
        elif [[ $1 != -d ]]; then
            local ending=${name##*.}
            [[ "|$1" == *"|$ending|"* ]] && COMPREPLY+=("$name")
        fi
    done < <(compgen -f -- "${cur}")
}

`

// bashScript changes cobra's script for bash, so that it completes words with @, and does not need bash-completion.
func bashScript(script string) string {
	return strings.NewReplacer(
		"-n =:", "-n =:@",
		`    __toolx_handle_special_char "$cur" =
`, `    __toolx_handle_special_char "$cur" =
    __toolx_handle_special_char "$cur" @
`,
		`    COMPREPLY=()
    _get_comp_words_by_ref "$@" cur prev words cword
`, bashWords,
		`# This function calls the toolx program`, bashFiles+`# This function calls the toolx program`,
	).Replace(script)
}
