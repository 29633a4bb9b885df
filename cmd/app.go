package cmd

import (
	"toolx/cmd/factory"
	"toolx/pkg/console"
)

// App is the program: the dependencies of its commands, and how it starts and ends.
type App struct{ factory *factory.Factory }

func newApp(c *console.Console) *App { return &App{factory.New(c)} }
