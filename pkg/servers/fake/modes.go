package fake

import "slices"

// mode is a Mode and what it does to a server.
type mode struct {
	name  string
	help  string
	on    string // the replies that it concerns where --on does not say; see covers
	apply func(*server)
}

// The scopes that modes have of themselves.
const (
	scopeAll   = "all"
	scopeLater = methodList + "," + methodCall // all but the handshake
)

// allModes is every mode in the order of --list.
func allModes() []mode {
	return slices.Concat(
		[]mode{{"good", "a correct server", scopeAll, func(*server) {}}},
		pollutionModes(), glueModes(), framingModes(), encodingModes(), volumeModes(),
		exitModes(), deafModes(), shutdownModes(), startModes(),
		shapeModes(), valueModes(), idModes(),
		handshakeModes(), eraModes(), clientModes(), featureModes(),
		pageModes(), listModes(), schemaModes(), contentModes(), untrustedModes(),
	)
}

func findMode(name string) (mode, bool) {
	all := allModes()
	i := slices.IndexFunc(all, func(m mode) bool { return m.name == name })
	if i < 0 {
		return mode{}, false
	}
	return all[i], true
}

// The functions below are what tables of modes are made of. Each captures the
// scope at the time at which the mode is applied.

// tamper spoils replies before they are written down.
func tamper(do func(*reply)) func(*server) {
	return func(s *server) { s.tampers = append(s.tampers, s.scoped(do)) }
}

// before does something ahead of a reply.
func before(do func(*server, *reply)) func(*server) {
	return func(s *server) {
		s.befores = append(s.befores, s.scoped(func(r *reply) { do(s, r) }))
	}
}

// after does something after a reply.
func after(do func(*server, *reply)) func(*server) {
	return func(s *server) {
		s.afters = append(s.afters, s.scoped(func(r *reply) { do(s, r) }))
	}
}

// encode changes the bytes of a reply; line ends in its newline.
func encode(do func(s *server, line []byte) []byte) func(*server) {
	return func(s *server) {
		scope := s.scope
		s.encoders = append(s.encoders, func(method string, line []byte) []byte {
			if !covers(scope, method) {
				return line
			}
			return do(s, line)
		})
	}
}

// intercept deals with requests itself; no reply follows.
func intercept(do func(*server, *message)) func(*server) {
	return func(s *server) {
		scope := s.scope
		s.intercepts = append(s.intercepts, func(m *message) bool {
			if m.isAnswer() || m.isNotification() || !covers(scope, m.Method) {
				return false
			}
			do(s, m)
			return true
		})
	}
}

// start does something before stdin is read.
func start(do func(*server)) func(*server) {
	return func(s *server) { s.starts = append(s.starts, func() { do(s) }) }
}

// end does something after stdin has ended.
func end(do func(*server)) func(*server) {
	return func(s *server) { s.ends = append(s.ends, func() { do(s) }) }
}

// both joins two effects into one mode.
func both(first, second func(*server)) func(*server) {
	return func(s *server) { first(s); second(s) }
}

func (s *server) scoped(do func(*reply)) func(*reply) {
	scope := s.scope
	return func(r *reply) {
		if covers(scope, r.method) {
			do(r)
		}
	}
}
