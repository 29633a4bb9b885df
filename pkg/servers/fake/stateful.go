package fake

import (
	"context"
	"fmt"
	"os"
)

// stateful adds tools for sessions that outlive a call: count remembers how often it was called, recover ends the
// process unless the file that it is given exists, and says that it may be repeated; murmur answers, and writes to
// stdout and stderr when the pipe that it is given has been written to.
func stateful(s *server) {
	count := 0
	s.addTools(func() []tool {
		return []tool{
			newTool("count", "Counts its calls.", ``, ``, func(context.Context, *call) ([]byte, error) {
				count++
				return textResult(fmt.Sprint(count)), nil
			}),
			{
				name: "recover",
				definition: `{"name":"recover","description":"Ends the process the first time.",` +
					`"inputSchema":{"type":"object","properties":{"mark":{"type":"string"}},"required":["mark"]},` +
					`"annotations":{"idempotentHint":true}}`,
				run: with(nil, func(_ context.Context, c *call, arguments struct{ Mark string }) ([]byte, error) {
					if _, err := os.Stat(arguments.Mark); err == nil {
						return textResult("recovered"), nil
					}
					if err := os.WriteFile(arguments.Mark, nil, 0o600); err != nil {
						return nil, err
					}
					c.server.die(7)
					return nil, nil
				}),
			},
			newTool("murmur", "Writes later.", `"when":{"type":"string"}`, `"when"`,
				with(nil, func(_ context.Context, _ *call, arguments struct{ When string }) ([]byte, error) {
					go func() {
						_, _ = os.ReadFile(arguments.When) // which waits
						s.say("murmured")
						s.write([]byte("a line between two calls\n"))
					}()
					return textResult("later"), nil
				})),
		}
	})
}
