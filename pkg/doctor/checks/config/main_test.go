package config_test

import (
	"testing"

	"toolx/pkg/doctor/doctortest"
)

func TestMain(m *testing.M) { doctortest.Main(m) }
