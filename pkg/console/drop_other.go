//go:build !linux && !darwin && !windows

package console

import (
	"errors"
	"os"
)

func dropInput(*os.File) error { return errors.ErrUnsupported }

func hideInput(*os.File) error { return errors.ErrUnsupported }
