package servers

import (
	"context"
	"runtime"
	"sync"

	"toolx/pkg/cmdline"
	"toolx/pkg/config"
)

// Starts bounds how many servers start at the same time, so that those that are ready soon are not slowed down by all
// the others, and lets one of them download a package that several run: two npx that fill one folder of npm's cache at
// the same time break it.
type Starts struct {
	places chan struct{}

	mu       sync.Mutex
	packages map[string]chan struct{} // with room for one, by launcher and package
}

// NewStarts lets at most limit servers start at the same time; zero means twice the number of processors.
func NewStarts(limit int) *Starts {
	if limit <= 0 {
		limit = 2 * runtime.GOMAXPROCS(0)
	}
	return &Starts{places: make(chan struct{}, limit), packages: make(map[string]chan struct{})}
}

// Begin waits until a server may start; one without a command may at once. The caller calls end, perhaps several
// times, once the server answers, has failed, or only makes others wait. The error is ctx's.
func (s *Starts) Begin(ctx context.Context, launch *config.Resolved) (end func(), err error) {
	if launch == nil || launch.Command == "" {
		return func() {}, nil
	}
	var taken []chan struct{}
	end = sync.OnceFunc(func() {
		for _, place := range taken {
			<-place
		}
	})
	for _, place := range []chan struct{}{s.download(launch), s.places} {
		select {
		case place <- struct{}{}:
			taken = append(taken, place)
		case <-ctx.Done():
			end()
			return nil, ctx.Err()
		}
	}
	return end, nil
}

// download returns the place of the one start that may download the package which a command runs; a new place where it
// runs none.
func (s *Starts) download(launch *config.Resolved) chan struct{} {
	launcher, _ := cmdline.ParseLauncher(cmdline.Unwrapped(launch.Command, launch.Args))
	if launcher.Spec == "" {
		return make(chan struct{}, 1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := launcher.Name + " " + launcher.Spec
	if s.packages[key] == nil {
		s.packages[key] = make(chan struct{}, 1)
	}
	return s.packages[key]
}
