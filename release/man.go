package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra/doc"

	"toolx/cmd"
)

// writeMan writes a man page for each command into the folder args[0], plain for archives and packed for system
// packages. args[1] is their date, in seconds since 1970.
func writeMan(args []string, _ io.Writer) error {
	if len(args) != 2 {
		return errors.New("man needs a folder and a date in seconds")
	}
	seconds, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return fmt.Errorf("the date of man pages: %w", err)
	}
	folder, date := args[0], time.Unix(seconds, 0).UTC()
	for _, part := range []string{"plain", "packed"} {
		if err := os.MkdirAll(filepath.Join(folder, part), 0o755); err != nil {
			return err
		}
	}
	root := cmd.Command()
	root.DisableAutoGenTag = true
	err = doc.GenManTreeFromOpts(root, doc.GenManTreeOptions{
		Header: &doc.GenManHeader{Section: "1", Date: &date, Source: "toolx", Manual: "toolx"},
		Path:   filepath.Join(folder, "plain"), CommandSeparator: "-",
	})
	if err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(folder, "plain", "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		if err := pack(page, filepath.Join(folder, "packed", filepath.Base(page)+".gz")); err != nil {
			return err
		}
	}
	return nil
}

// pack compresses a file with gzip, without its name and time, so that the output is reproducible.
func pack(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	packed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = packed.Write(text)
	return errors.Join(err, packed.Close(), out.Close())
}
