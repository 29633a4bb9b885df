package cmd

import (
	"toolx/cmd/factory"
	"toolx/pkg/console"
)

// App is the program: what commands depend on, and how it begins and ends.
type App struct{ factory *factory.Factory }

func newApp(c *console.Console) *App { return &App{factory.New(c)} }
