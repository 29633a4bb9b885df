package contract

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"toolx/pkg/contract"
	"toolx/pkg/fault"
	"toolx/pkg/git"
)

// isRevision reports whether a side is REV:PATH.
func isRevision(word string) bool {
	revision, _, is := strings.Cut(word, ":")
	return is && revision != "" && !strings.HasPrefix(revision, "-") && !strings.ContainsAny(revision, " \t\n")
}

// readRevision reads a snapshot from git. The error about its content is a *contract.FileError.
func readRevision(ctx context.Context, spec string) (contract.Set, error) {
	kind, err := runGit(ctx, nil, "cat-file", "-t", spec)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(string(kind)) == "blob" {
		data, err := runGit(ctx, nil, "cat-file", "blob", spec)
		if err != nil {
			return nil, err
		}
		return contract.Parse(spec, contract.Files{"": data})
	}
	listed, err := runGit(ctx, nil, "ls-tree", "-r", "-l", "-z", spec)
	if err != nil {
		return nil, err
	}
	entries, err := readTree(spec, listed)
	if err != nil {
		return nil, err
	}
	var ids bytes.Buffer
	for _, entry := range entries {
		fmt.Fprintln(&ids, entry.id)
	}
	contents, err := runGit(ctx, &ids, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	files := make(contract.Files)
	reader := bufio.NewReader(bytes.NewReader(contents))
	for _, entry := range entries {
		if _, err := reader.ReadString('\n'); err != nil { // ID TYPE SIZE
			return nil, err
		}
		data := make([]byte, entry.size+1) // and a newline
		if _, err := io.ReadFull(reader, data); err != nil {
			return nil, err
		}
		files[entry.name] = data[:entry.size]
	}
	return contract.Parse(spec, files)
}

// blob is a file in git.
type blob struct {
	name, id string
	size     int64
}

// readTree returns the files of a snapshot in the output of git ls-tree -r -l -z: "MODE TYPE ID SIZE\tNAME\0".
func readTree(spec string, listed []byte) (entries []blob, err error) {
	var total int64
	for line := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
		facts, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(facts)
		if len(fields) != 4 || !contract.Wanted(name) {
			continue
		}
		size, err := strconv.ParseInt(fields[3], 10, 64)
		switch mode := fields[0]; {
		case mode == "120000":
			err = errors.New("it is a symbolic link, which a snapshot cannot have")
		case err != nil || fields[1] != "blob":
			err = errors.New("it is not a regular file")
		case len(entries) >= contract.MaxFiles:
			err = fmt.Errorf("the snapshot has more than %d files", contract.MaxFiles)
		case total+size > contract.MaxBytes:
			err = fmt.Errorf("the snapshot is larger than %d MiB", contract.MaxBytes>>20)
		}
		if err != nil {
			return nil, &contract.FileError{File: spec + "/" + name, Err: err}
		}
		total += size
		entries = append(entries, blob{name, fields[2], size})
	}
	return entries, nil
}

// runGit runs git in the working folder and returns its output.
func runGit(ctx context.Context, input io.Reader, arguments ...string) ([]byte, error) {
	command := git.Command(ctx, ".", arguments...)
	output := bounded{most: 2 * contract.MaxBytes}
	var stderr bounded
	stderr.most = 4 << 10
	command.Stdin, command.Stdout, command.Stderr = input, &output, &stderr
	err := command.Run()
	switch {
	case err == nil:
		return output.Bytes(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, git.ErrMissing):
		return nil, fault.Usage("git is not in PATH, and REV:PATH needs it", "install git, or name a folder")
	case output.Len() > output.most:
		return nil, fault.Usage("the output of git is too large", "REV:PATH names a snapshot")
	}
	reason, _, _ := strings.Cut(stderr.String(), "\n")
	reason = strings.TrimPrefix(reason, "fatal: ")
	if reason == "" {
		reason = err.Error()
	}
	return nil, fault.Usage("git: "+reason, "git ls-tree -r --name-only HEAD shows paths; REV:PATH counts from the top")
}

// bounded collects output, and fails beyond a bound.
type bounded struct {
	bytes.Buffer
	most int
}

// Write implements io.Writer.
func (b *bounded) Write(data []byte) (int, error) {
	if b.Len()+len(data) > b.most {
		_, _ = b.Buffer.Write(data[:min(len(data), b.most+1-b.Len())])
		return 0, errors.New("too much output")
	}
	return b.Buffer.Write(data)
}
