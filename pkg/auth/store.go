package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"toolx/pkg/keyring"
	"toolx/pkg/state"
)

// Store keeps grants by the server's address and the authorization server's issuer. Each server has a file that only
// the user can read; the secrets are in the system keyring if there is one, otherwise in the file.
//
// Without a file for a server nothing else is read, so servers without authorization cost nothing. A Store is safe for
// concurrent use, also by several processes.
type Store struct {
	dir  string
	ring keyring.Ring
}

// NewStore returns a Store in a folder, which is created when needed. With inKeyring, secrets go to the system keyring
// if there is one.
func NewStore(dir string, inKeyring bool) *Store {
	return &Store{dir: dir, ring: keyring.Ring{Off: !inKeyring}}
}

// record is a server's file.
type record struct {
	Server string `json:"server"`
	// Current is the issuer of the latest grant.
	Current string           `json:"current"`
	Grants  map[string]*kept `json:"grants"`
}

// kept is a grant in a file. Secrets is nil if they are in the keyring.
type kept struct {
	*Grant
	Secrets *secrets `json:"secrets,omitempty"`
}

// load returns a server's grant from an issuer, or the latest one if issuer is empty; nil if there is none.
func (s *Store) load(ctx context.Context, server, issuer string) (*Grant, error) {
	read, err := s.read(server)
	if err != nil || read == nil {
		return nil, err
	}
	found := read.find(issuer)
	if found == nil {
		return nil, nil
	}
	grant := found.Grant
	if !grant.Keyring {
		grant.secrets = *found.Secrets
		if err := grant.secrets.check(); err != nil {
			return nil, &DamagedError{s.path(server), err}
		}
		return grant, nil
	}
	text, err := s.ring.Get(ctx, account(server, grant.Issuer))
	switch {
	case errors.Is(err, keyring.ErrNotThere):
		return nil, nil // removed by hand
	case err != nil:
		return nil, err
	}
	if json.Unmarshal([]byte(text), &grant.secrets) != nil || grant.secrets.Access == "" {
		return nil, nil
	}
	return grant, nil
}

// find returns the grant from an issuer, or the latest one if issuer is empty.
func (r *record) find(issuer string) *kept {
	if issuer == "" {
		return r.Grants[r.Current]
	}
	for name, one := range r.Grants {
		if sameIssuer(name, issuer) {
			return one
		}
	}
	return nil
}

// save stores a grant and makes it the server's current one.
func (s *Store) save(ctx context.Context, server string, grant *Grant) error {
	read, err := s.read(server)
	if err != nil || read == nil {
		read = &record{Grants: map[string]*kept{}} // replace an unreadable one
	}
	read.Server, read.Current = server, grant.Issuer
	text, err := json.Marshal(grant.secrets)
	if err != nil {
		return err
	}
	copied := *grant
	one := &kept{Grant: &copied}
	// The keyring comes first: a reader between the two writes gets a token that is newer than the file, which is
	// harmless.
	copied.Keyring = s.ring.Set(ctx, account(server, grant.Issuer), string(text)) == nil
	if !copied.Keyring {
		one.Secrets = &copied.secrets
		if before := read.Grants[grant.Issuer]; before != nil && before.Keyring {
			_ = s.ring.Delete(ctx, account(server, grant.Issuer)) // the old secrets are useless now
		}
	}
	read.Grants[grant.Issuer] = one
	_ = os.Remove(s.failurePath(server)) // usually there is none
	return s.write(server, read)
}

// remove deletes all grants of a server, and an unreadable file too.
func (s *Store) remove(ctx context.Context, server string) error {
	if read, _ := s.read(server); read != nil {
		for issuer, one := range read.Grants {
			if one.Keyring {
				wrong := s.ring.Delete(ctx, account(server, issuer))
				if wrong != nil && !errors.Is(wrong, keyring.ErrNotThere) {
					return wrong
				}
			}
		}
	}
	if gone := os.Remove(s.path(server)); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		return gone
	}
	return nil
}

// Check returns what is wrong with the Store as a whole, or nil. Calls then run as without logins.
func (s *Store) Check() *DamagedError {
	if info, err := os.Stat(s.dir); err == nil && !info.IsDir() {
		return &DamagedError{s.dir, errors.New("it is not a folder")}
	}
	return nil
}

// Servers returns the sorted addresses of the servers with stored grants, and the errors of unreadable files, whose
// server is unknown.
func (s *Store) Servers() (addresses []string, damaged []*DamagedError) {
	if wrong := s.Check(); wrong != nil {
		return nil, []*DamagedError{wrong}
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, nil // usually because nothing was ever stored
	}
	for _, entry := range entries {
		file := filepath.Join(s.dir, entry.Name())
		if filepath.Ext(file) != ".json" {
			continue
		}
		read, err := readRecord(file)
		var wrong *DamagedError
		switch {
		case errors.As(err, &wrong):
			damaged = append(damaged, wrong)
		case read == nil: // deleted meanwhile
		case s.path(read.Server) == file:
			addresses = append(addresses, read.Server)
		default:
			damaged = append(damaged, &DamagedError{file, errors.New("its name is that of another server")})
		}
	}
	slices.Sort(addresses)
	return addresses, damaged
}

// DamagedError reports an unreadable file of the Store.
type DamagedError struct {
	File string
	Err  error
}

func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged: %v", e.File, e.Err) }
func (e *DamagedError) Unwrap() error { return e.Err }

// issuers returns the sorted issuers of a server's grants.
func (s *Store) issuers(server string) []string {
	read, _ := s.read(server)
	if read == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(read.Grants))
}

// read reads a server's file; nil if there is none.
func (s *Store) read(server string) (*record, error) { return readRecord(s.path(server)) }

// maxRecord limits the size of a server's file, in bytes.
const maxRecord = 1 << 20

// readRecord reads a file; nil if there is none. The error is a *DamagedError.
func readRecord(file string) (*record, error) {
	text, err := state.Read(file, maxRecord)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil // ENOTDIR: the folder is a file; Check reports that
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return nil, &DamagedError{file, path.Err} // without the file, which DamagedError names
	}
	var read record
	if json.Unmarshal(text, &read) != nil {
		return nil, &DamagedError{file, errors.New("it does not hold logins")}
	}
	for _, one := range read.Grants {
		if one == nil || one.Grant == nil || !one.Keyring && one.Secrets == nil {
			return nil, &DamagedError{file, errors.New("a login in it has no tokens")}
		}
	}
	return &read, nil
}

// write replaces a server's file atomically.
func (s *Store) write(server string, content *record) error {
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	return state.Replace(s.path(server), append(text, '\n'))
}

// fix returns what to do if the folder is unusable.
func (s *Store) fix() string {
	return "see that files can be written in " + s.dir + ", or set XDG_STATE_HOME to another folder"
}

// lock waits until no other process renews a token of the server.
func (s *Store) lock(ctx context.Context, server string) (unlock func(), err error) {
	return state.Lock(ctx, strings.TrimSuffix(s.path(server), ".json")+".lock")
}

// lockLogin waits until no other process lets the user log in to the server. It calls waiting if it has to wait.
func (s *Store) lockLogin(ctx context.Context, server string, waiting func()) (unlock func(), err error) {
	file := strings.TrimSuffix(s.path(server), ".json") + ".login.lock"
	unlock, ok, err := state.TryLock(file)
	if ok || err != nil {
		return unlock, err
	}
	waiting()
	return state.Lock(ctx, file)
}

// failedLogin is the file about a login that failed.
type failedLogin struct {
	Time    time.Time `json:"time"`
	Problem string    `json:"problem"`
}

// noteFailure records why a login to a server failed, until one succeeds.
func (s *Store) noteFailure(server, problem string) {
	text, err := json.Marshal(failedLogin{time.Now(), problem})
	if err == nil {
		_ = state.Replace(s.failurePath(server), append(text, '\n')) // Login has checked that it can be written
	}
}

// failure returns why a login to a server failed after since; empty if none did.
func (s *Store) failure(server string, since time.Time) string {
	var last failedLogin
	text, err := state.Read(s.failurePath(server), maxRecord)
	if err != nil || json.Unmarshal(text, &last) != nil || last.Time.Before(since) {
		return ""
	}
	return last.Problem
}

func (s *Store) failurePath(server string) string {
	return strings.TrimSuffix(s.path(server), ".json") + ".failed"
}

// path returns a server's file. Its name is a hash: addresses may have secrets and characters that file names may not.
func (s *Store) path(server string) string {
	sum := sha256.Sum256([]byte(server))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+".json")
}

// account returns the name of a grant's secrets in the keyring.
func account(server, issuer string) string { return server + " " + issuer }
