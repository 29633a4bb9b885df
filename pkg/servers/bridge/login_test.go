package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

// missingLogin is the error of a server that requires a login.
type missingLogin struct{}

func (missingLogin) Error() string    { return "it requires a login" }
func (missingLogin) Kind() fault.Kind { return fault.KindAuth }
func (missingLogin) Hint() string     { return "ask the owner\ntoolx auth login site" }
func (missingLogin) NeedsLogin() bool { return true }

// TestLoginWait proves that a request waits 45 s for a login, and says what it waited for; that a cancelled request
// stops waiting; and that the login remains under way.
func TestLoginWait(t *testing.T) {
	const address = "https://login.example/authorize?state=s"
	for _, test := range []struct{ name, address, want string }{
		{"slow", "", `"message":"it requires a login; no login page within 45s, because the authorization server is slow ` +
			`(run: toolx auth login site)"`},
		{"elsewhere", "elsewhere", `"message":"it requires a login; another toolx process is waiting for the login ` +
			`(run: toolx auth login site)"`},
		{"in the browser", address, `"message":"it requires a login (run: toolx auth login site); or open ` + address + `"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				logins := 0
				life, end := context.WithCancel(t.Context())
				b := &bridge{life: life, Options: Options{Bus: &exec.Bus{}, Server: &config.Server{Name: "site"}}}
				b.login.bridge = b
				b.Login = func(ctx context.Context, show func(string, bool)) error {
					logins++
					if test.address != "" {
						show(strings.TrimPrefix(test.address, "elsewhere"), true)
					}
					<-ctx.Done()
					return ctx.Err()
				}
				lacks := func() error { return missingLogin{} }
				begun := time.Now()
				for range 2 {
					got, _ := json.Marshal(failed(b.login.serve(t.Context(), lacks)).Raw)
					if !strings.Contains(string(got), test.want) {
						t.Errorf("the response is %s\nwant %s", got, test.want)
					}
				}
				if waited := time.Since(begun); waited != 2*loginWait {
					t.Errorf("two requests waited %s", waited)
				}
				cancelled, cancel := context.WithCancelCause(t.Context())
				cancel(errCancelled)
				if err := b.login.serve(cancelled, lacks); !errors.Is(err, errCancelled) {
					t.Errorf("a cancelled request: %v", err)
				}
				end()
				b.going.Wait()
				if logins != 1 {
					t.Errorf("%d logins have begun", logins)
				}
			})
		})
	}
}
