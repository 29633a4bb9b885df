package http_test

import (
	"os"
	"testing"

	"toolx/pkg/doctor/doctortest"
)

func TestMain(m *testing.M) { os.Exit(doctortest.Main(m)) }
