package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestName(t *testing.T) {
	secret := []string{
		"token", "TOKEN", "accessToken", "access_token", "GITHUB_TOKEN", "x-auth-token", "id.token", "refreshToken",
		"secret", "clientSecret", "client_secret", "AWS_SECRET_ACCESS_KEY", "password", "dbPassword",
		"PGPASSWORD_password",
		"passwd", "api_key", "apiKey", "APIKey", "apikey", "X-API-Key", "Authorization", "Proxy-Authorization",
		"credential", "credentials", "private_key", "privateKey", "privateKeyPem", "Cookie", "Set-Cookie", "DB_PASS",
		"passphrase",
	}
	plain := []string{
		"", "max_tokens", "maxTokens", "tokenizer", "tokens", "token_count", "tokenLimit", "token_type", "author",
		"authority",
		"progressToken", "nextPageToken", "key", "keyboard", "keyName", "monkey", "compass", "passenger", "secretary",
		"password_length", "passwordPolicy", "cookieName", "deviceName", "public_key", "authorization_endpoint",
		"authorization_servers", "oauth-authorization-server", "token_endpoint_auth_methods_supported",
	}
	for _, name := range secret {
		if !Name(name) {
			t.Errorf("%q names a secret", name)
		}
	}
	for _, name := range plain {
		if Name(name) {
			t.Errorf("%q names no secret", name)
		}
	}
}

func TestText(t *testing.T) {
	const hex20, hex40 = "0123456789abcdef0123", "0123456789abcdef0123456789abcdef01234567"
	tests := []struct{ name, in, want string }{
		{"nothing", "turned the light on: 3 of 4", "turned the light on: 3 of 4"},
		{"GitHub", "uses ghp_" + hex20 + ".", "uses ***."},
		{"GitHub, fine-grained", "github_pat_" + hex20 + "_" + hex20, "***"},
		{"Anthropic", "(sk-ant-api03-" + hex20 + "_x-y)", "(***)"},
		{"OpenAI", "sk-proj-" + hex20, "***"},
		{"a word that begins like a key", "task-0123456789abcdef0123 sk-something-with-no-digits", "task-0123456789abcdef0123 sk-something-with-no-digits"},
		{"Slack", "xoxb-123456789012-abcdef", "***"},
		{"AWS", "AKIAIOSFODNN7EXAMPLE", "***"},
		{"longer than AWS", "AKIAIOSFODNN7EXAMPLEXX", "AKIAIOSFODNN7EXAMPLEXX"},
		{"Google", "AIza" + hex40[:35], "***"},
		{"GitLab", "glpat-" + hex20, "***"},
		{"npm", "npm_" + hex40[:36], "***"},
		{"npm's variables are no tokens", "npm_config_registry_with_long_name_and_more", "npm_config_registry_with_long_name_and_more"},
		{"Hugging Face", "hf_" + hex40[:34], "***"},
		{"JWT", "got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "got ***"},
		{"bearer", "sends Bearer abcdefgh1234/+==", "sends Bearer ***"},
		{"bearer in prose", "uses bearer authentication", "uses bearer authentication"},
		{"header", "Authorization: Basic dXNlcjpwYXNz\nAccept: */*", "Authorization: ***\nAccept: */*"},
		{"header of a hint", "-H 'Authorization: Bearer …', or {Authorization: Bearer ${TOKEN}}", "-H 'Authorization: Bearer …', or {Authorization: Bearer ${TOKEN}}"},
		{"variable of a hint", `env: {GITHUB_TOKEN: "${GITHUB_TOKEN}"}, API_KEY=${API_KEY}`, `env: {GITHUB_TOKEN: "${GITHUB_TOKEN}"}, API_KEY=${API_KEY}`},
		{"variable with a default", `env: {GITHUB_TOKEN: "${GITHUB_TOKEN:-abc}"}`, `env: {GITHUB_TOKEN: "***"}`},
		{"no header of a hint", "Authorization: Bearer ${TOKEN:-abcdef}\nAuthorization: Bearer abc…", "Authorization: ***}\nAuthorization: ***"},
		{"default of a hint", "export GITHUB_TOKEN=… or set a default: ${GITHUB_TOKEN:-…}", "export GITHUB_TOKEN=… or set a default: ${GITHUB_TOKEN:-…}"},
		{"example", `"env": {"API_KEY": "<YOUR_API_KEY>"}`, `"env": {"API_KEY": "<YOUR_API_KEY>"}`},
		{"challenge", `WWW-Authenticate: Bearer resource_metadata="https://host/x", scope="a"`, `WWW-Authenticate: Bearer resource_metadata="https://host/x", scope="a"`},
		{"truth", "Access-Control-Allow-Credentials: true", "Access-Control-Allow-Credentials: true"},
		{"server of that name", "server 'secrets-manager': variable is not set: API_KEY (env.API_KEY)", "server 'secrets-manager': variable is not set: API_KEY (env.API_KEY)"},
		{"tool of that name", `tool "get_token": exited; Tool 'get_token' not found`, `tool "get_token": exited; Tool 'get_token' not found`},
		{"why a secret failed", "Invalid project token: fetch failed\nAPI key: not found.", "Invalid project token: fetch failed\nAPI key: not found."},
		{"file of that name", "warning: token.yaml:3:5: unknown key 'x'", "warning: token.yaml:3:5: unknown key 'x'"},
		{"server's password", "the server password: hunter2", "the server password: ***"},
		{"key in quotes", `{"server": 1, "password": "hunter2"}`, `{"server": 1, "password": "***"}`},
		{"flag of a hint", "serve --token … --password …x", "serve --token … --password ***"},
		{"document about logins", "https://host/.well-known/oauth-authorization-server: it does not name S256", "https://host/.well-known/oauth-authorization-server: it does not name S256"},
		{"cookie", "Cookie: a=b; c=d", "Cookie: ***"},
		{"environment", "env MQTT_PASSWORD=hunter2 node x.js", "env MQTT_PASSWORD=*** node x.js"},
		{"query", "https://host/p?api_key=abc&max_tokens=5#top", "https://host/p?api_key=***&max_tokens=5#top"},
		{"URL with a password", "mqtt://bob:hunter2@host:1883/x", "mqtt://bob:***@host:1883/x"},
		{"URL without", "http://host:8080/a:b@c", "http://host:8080/a:b@c"},
		{"flag", "run --api-key abc --verbose yes", "run --api-key *** --verbose yes"},
		{"short flag", `run -k S3cr3tKey9 -K="abcd1234" -v`, `run -k *** -K="***" -v`},
		{"short flag of something else", "sort -k 2,2 -k ./server9.key; grep -k plainword x-k abcd1234", "sort -k 2,2 -k ./server9.key; grep -k plainword x-k abcd1234"},
		{"JSON in text", `sent {"token":"a\"b","x":1}`, `sent {"token":"***","x":1}`},
		{"JSON in JSON in text", `"{\"token\": \"abc\", \"x\": 1}"`, `"{\"token\": \"***\", \"x\": 1}"`},
		{"comparison", "if token == nil", "if token == nil"},
		{
			"private key", "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nxyz\n-----END RSA PRIVATE KEY-----\nb",
			"a\n-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\nb",
		},
		{"private key, cut", "-----BEGIN PRIVATE KEY-----\nMIIE", "-----BEGIN PRIVATE KEY-----***"},
		{"help text", "- token: the bot token\n- apiKey: Notion API key (required)", "- token: the bot token\n- apiKey: Notion API key (required)"},
		{"flag that is missing", "Error: --api-key is not set; give --token or --password", "Error: --api-key is not set; give --token or --password"},
		{"another way to give a flag", "set --auth-token (or ACME_TOKEN)", "set --auth-token (or ACME_TOKEN)"},
		{"flags of a help text", "  --api-key      Notion API key\n  --token string  for Slack", "  --api-key      Notion API key\n  --token string  for Slack"},
		{"usage", "usage: x [--token TOKEN] [--api-key=YOUR_API_KEY] --secret=<secret>", "usage: x [--token TOKEN] [--api-key=YOUR_API_KEY] --secret=<secret>"},
		{"what is said of a secret", "DISCORD_TOKEN: missing\nAPI key: set\ncredentials: not found", "DISCORD_TOKEN: missing\nAPI key: set\ncredentials: not found"},
		{"how a key begins", "API_KEY: API_KEY must start with 'SG.'", "API_KEY: API_KEY must start with 'SG.'"},
		{"a key after its name", "API_KEY: API_KEY is hunter2hunter2", "API_KEY: ***"},
		{"how long a key has to be", "AUTH_TOKEN: Auth token must be at least 32 characters", "AUTH_TOKEN: Auth token must be at least 32 characters"},
		{"a short secret", "the pin of the token is at 123\ntoken: at 123 least 456", "the pin of the token is at 123\ntoken: ***"},
		{"what is said of a key", "GITHUB_TOKEN: Your GitHub personal access token, e.g. from https://x.y/z", "GITHUB_TOKEN: Your GitHub personal access token, e.g. from https://x.y/z"},
		{"examples", "mysql://root:password@localhost/db, API_KEY=\"...\" or --api-key=$KEY", "mysql://root:password@localhost/db, API_KEY=\"...\" or --api-key=$KEY"},
		{"an error about a secret", "Error using Credentials: Error: Could not load the default credentials.", "Error using Credentials: Error: Could not load the default credentials."},
		{"a secret in an error", "Credentials: Error: hunter2x", "Credentials: ***"},
		{"examples of files", "JWT_TOKEN=your_jwt_token CREDENTIALS=\"/path/to/keys.json\"", "JWT_TOKEN=your_jwt_token CREDENTIALS=\"/path/to/keys.json\""},
		{"words that are a secret", "password: correct horse battery staple\npassphrase: the quick brown fox", "password: ***\npassphrase: ***"},
		{"a secret in a sentence", "password: the password is hunter\ntoken: your token: abc", "password: ***\ntoken: ***"},
		{"letters that are a secret", "Authorization: Bearer Token abcdefgh\nAuthorization: Bearer keyabcdef\nCookie: session token abcdef", "Authorization: ***\nAuthorization: ***\nCookie: ***"},
		{"kinds of a secret", "- token: Slack bot token, begins with xoxb-\napi-key: API keys or OAuth tokens", "- token: Slack bot token, begins with xoxb-\napi-key: API keys or OAuth tokens"},
		{"a token in a sentence", "token: the bot token abc12345", "token: ***"},
		{"a word of a flag that is a secret", "run --token hunter --password is", "run --token *** --password is"},
		{"a quoted value", `"token": "missing", --api-key "set"`, `"token": "***", --api-key "***"`},
		{"public key", "-----BEGIN PUBLIC KEY-----\nMIIE", "-----BEGIN PUBLIC KEY-----\nMIIE"},
	}
	var m *Masker
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := m.Text(tt.in)
			if got != tt.want {
				t.Errorf("Text(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			if again := m.Text(got); again != got {
				t.Errorf("masked twice: %q, then %q", got, again)
			}
		})
	}
}

// TestShows tells secrets from the examples that documents give, which Text hides all the same.
func TestShows(t *testing.T) {
	for text, want := range map[string]bool{
		"postgres://root:password@localhost:5432/db": false, "redis://user:pass@host": false,
		"amqp://guest:guest@mq": false, "mongodb://<user>:<password>@host/db": false, "https://me:$KEY@host": false,
		"https://me:xxx@host": false, "postgres://root:hunter2@localhost/db": true, "--token=<token>": false,
		"--api-key=$API_KEY": false, "--api-key=xxx": false, "--api-key=abc123": true, "AKIAIOSFODNN7EXAMPLE": false,
		"AKIAIOSFODNN7ABCDEFG": true, "sk-xxxxxxxxxxxxxxxx1": false, "ghp_0123456789abcdef0123": true,
		"Authorization: Bearer YOUR_API_KEY": false, "Authorization: Bearer abcdef123456": true,
		"DB_PASSWORD=password": false, "": false, "--verbose": false,
	} {
		if got := Shows(text); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
	if ShowsToken("DB_PASSWORD:not-configured") || !ShowsToken("ghp_0123456789abcdef0123") {
		t.Error("a word by itself")
	}
}

func TestRefers(t *testing.T) {
	for value, want := range map[string]bool{
		"/srv/keys/gcp-oauth.keys.json": true, "/run/secrets/token": true, "/Users/me/Keys": true, "~/.ssh/id": true,
		"./key.pem": true, `C:\keys\k.pem`: true, "C:/keys/k.pem": true, "op://vault/item": true,
		"/9j4AAQSkZJRgABAQAAAQ": false, "hunter2-hunter2": false, "a:b": false, "": false,
	} {
		if got := Refers(value); got != want {
			t.Errorf("Refers(%q) = %t, want %t", value, got, want)
		}
	}
}

func TestValues(t *testing.T) {
	const value = `s€cret<&> "wörd/+`
	m := New(value, "abc", "true", "hunter2", "hunter22")
	encoded := base64.StdEncoding.EncodeToString
	quoted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"itself":                 value,
		"JSON":                   string(quoted),
		"JSON without HTML":      inQuotes(value),
		"query":                  url.QueryEscape(value),
		"path":                   url.PathEscape(value),
		"lower-case escapes":     lowerEscapes(url.QueryEscape(value)),
		"base64":                 encoded([]byte(value)),
		"base64 after one byte":  encoded([]byte("u" + value)),
		"base64 after two bytes": encoded([]byte("u:" + value)),
		"base64 amid text":       encoded([]byte("user:" + value + ":more")),
		"base64 for URLs":        base64.RawURLEncoding.EncodeToString([]byte(value)),
	} {
		if masked := m.Text("<" + text + ">"); !strings.Contains(masked, Mask) || len(masked) > 20 {
			t.Errorf("%s: %q stays %q", name, text, masked)
		}
	}
	if got := m.Text("abc true hunter2 hunter22."); got != "abc true *** ***." {
		t.Errorf("short, literal, short and long: %q", got)
	}
}

func TestJSON(t *testing.T) {
	m := New("hunter2", "12345678")
	tests := []struct{ name, in, want string }{
		{"nothing to hide, spaces kept", " { \"a\" : [1, 2.50, 1e400 ] }\n", " { \"a\" : [1, 2.50, 1e400 ] }\n"},
		{"by name, in order", `{"z":1,"api_key":"k","a":"b"}`, `{"z":1,"api_key":"***","a":"b"}`},
		{"number by name", `{"token":123.50}`, `{"token":"***"}`},
		{"literals by name", `{"token":null,"password":true}`, `{"token":null,"password":true}`},
		{"deep below a name", `{"credentials":{"user":["a",1]},"x":"y"}`, `{"credentials":{"user":["***","***"]},"x":"y"}`},
		{"schema of a secret parameter", `{"properties":{"token":{"type":"string"}}}`, `{"properties":{"token":{"type":"string"}}}`},
		{"secret called properties", `{"properties":{"token":"abc"}}`, `{"properties":{"token":"***"}}`},
		{"value in a string", `["say \"hunter2\" <&>"]`, `["say \"***\" <&>"]`},
		{"value in escapes", `["hu\u006eter2","é\u00e9"]`, `["***","é\u00e9"]`},
		{"value in a key", `{"hunter2":1}`, `{"***":1}`},
		{"value as a number", `[12345678, 1234]`, `["***", 1234]`},
		{"text that is JSON", `{"text":"{\"password\":\"x\"}"}`, `{"text":"{\"password\":\"***\"}"}`},
		{"escaped key", `{"pass\u0077ord":"x"}`, `{"pass\u0077ord":"***"}`},
		{"no JSON", `password=x {`, `password=*** {`},
		{"empty secret", `{"token":""}`, `{"token":""}`},
		{"tokens of a model", `{"max_tokens":100,"progressToken":"7"}`, `{"max_tokens":100,"progressToken":"7"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := []byte(tt.in)
			if got := string(m.JSON(in)); got != tt.want {
				t.Errorf("JSON(%s)\n got %s\nwant %s", tt.in, got, tt.want)
			}
			if string(in) != tt.in {
				t.Error("the input was changed")
			}
		})
	}
}

func TestNothingToHideIsNotCopied(t *testing.T) {
	text := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"the light is on"}]}}`)
	m := New("hunter2")
	if got := m.JSON(text); &got[0] != &text[0] {
		t.Error("a text without secrets was copied")
	}
}

func TestAttr(t *testing.T) {
	var out bytes.Buffer
	m := New("hunter2")
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: m.Attr}))
	log.Info("said hunter2", "token", "abc", "count", 3, "err", errors.New("no hunter2"),
		"args", []string{"--password", "hunter2"}, "json", json.RawMessage(`{"secret":"s"}`),
		slog.Group("g", "api_key", "k"), "credentials", struct{ A string }{"x"})
	got := out.String()
	for _, leaked := range []string{"hunter2", "abc", `"s"`, "api_key=k", "{x}"} {
		if strings.Contains(got, leaked) {
			t.Errorf("%q is in the log: %s", leaked, got)
		}
	}
	for _, kept := range []string{"level=INFO", "count=3", "g.api_key=***"} {
		if !strings.Contains(got, kept) {
			t.Errorf("%q is not in the log: %s", kept, got)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	m := New()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			value := strings.Repeat(string(rune('a'+i)), 10)
			m.Add(value)
			if got := m.Text("<" + value + ">"); got != "<***>" {
				t.Errorf("a value just added is shown: %q", got)
			}
		})
	}
	wg.Wait()
}

// Runs of what might begin a token must not cost the square of their length.
func TestHostileTextEnds(t *testing.T) {
	for _, part := range []string{"sk-", "eyJ-", "-----BEGIN ", "://", "Bearer ", "token=", "token:", `\"`, "--token ", "AKIA", " -k ", " -k \"a1"} {
		text := strings.Repeat(part, 1<<20/len(part))
		if got := New("hunter2").Text(text); got == "" {
			t.Error("nothing left of", part)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("hunter2", "password is hunter2", "a***b")
	f.Add("a***", "aa******", "****")
	f.Add("token", "token=token", "=***")
	f.Fuzz(func(t *testing.T, value, text, other string) {
		m := New(value, other)
		for _, in := range []string{text, value, text + value + other + text, url.QueryEscape(value)} {
			out := m.Text(in)
			for _, secret := range []string{value, other} {
				if len(secret) >= minLength && !isLiteral(secret) && strings.Contains(out, secret) {
					t.Fatalf("%q is in %q, made of %q", secret, out, in)
				}
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"token":"x","a":[1,{"b":"hunter2"}]}`, "hunter2")
	f.Add(` [ "\u0068unter2" , 12345678 ] `, "12345678")
	f.Add(`{"a":"Authorization: Bearer x\"y"}`, "Bear")
	f.Fuzz(func(t *testing.T, text, value string) {
		m := New(value)
		out := m.JSON([]byte(text))
		if !json.Valid([]byte(text)) {
			return
		}
		if !json.Valid(out) {
			t.Fatalf("%q became %q, which is not JSON", text, out)
		}
		if len(value) < minLength || isLiteral(value) {
			return
		}
		said := scalars(t, out)
		if slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, value) }) {
			t.Fatalf("%q is in %q, made of %q", value, out, text)
		}
	})
}

// scalars gives every key, string and number of a JSON text.
func scalars(t *testing.T, text []byte) []string {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var all []string
	for {
		token, err := decoder.Token()
		if err != nil {
			return all
		}
		switch token := token.(type) {
		case string:
			all = append(all, token)
		case json.Number:
			all = append(all, token.String())
		}
	}
}

func BenchmarkJSONNothingToHide(b *testing.B) {
	frame := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("the light is on. ", 60) + `"}]}}`)
	m := New("hunter2")
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		m.JSON(frame)
	}
}

// TestCut hides what is left of a value where a text was cut, on both sides of the mark.
func TestCut(t *testing.T) {
	m := New("S3cr3tValue", "Other1Secret2")
	for text, want := range map[string]string{
		"key S3cr3tVa…": "key ***…",
		"key S3cr…":     "key ***…",
		"key S3c…":      "key S3c…", // shorter than any value
		"…tValue and S3cr3tValue and Other1…": "…*** and *** and ***…",
		"S3cr3…cret2":    "***…***",
		"S3cr… and …":    "***… and …",
		"export TOKEN=…": "export TOKEN=…",
	} {
		if got := m.Text(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := m.Beginning("key S3cr3tVa"); got != "key ***" {
		t.Errorf("the beginning is %q", got)
	}
}

// TestManyValues proves that the values are sorted once they are needed, not each time that one is added, and that many
// are hidden as few are: a config may have a secret in each of thousands of entries.
func TestManyValues(t *testing.T) {
	for _, count := range []int{1, fewValues, 20 * fewValues} {
		m := New()
		for i := range count {
			m.Add(fmt.Sprintf("value-%05d", i))
			if m.finder.Load() != nil {
				t.Fatalf("%d values: sorted before a text is looked at", count)
			}
		}
		last := fmt.Sprintf("value-%05d", count-1)
		if got := m.Text("a " + last + " b value-000 " + last[:8] + cut); got != "a *** b value-000 ***"+cut {
			t.Errorf("%d values: %q", count, got)
		}
		sorted := m.finder.Load()
		if got := m.Text("nothing"); got != "nothing" || m.finder.Load() != sorted {
			t.Errorf("%d values: %q, sorted again: %t", count, got, m.finder.Load() != sorted)
		}
		if m.Add(last); m.finder.Load() != sorted {
			t.Errorf("%d values: a value that is known makes a new finder", count)
		}
	}
}

// TestErrorsOfFiles proves that a path in an error of a file is no assignment, and that a password in a path is one.
func TestErrorsOfFiles(t *testing.T) {
	for text, want := range map[string]string{
		"statat p/passwd: path escapes from parent":   "statat p/passwd: path escapes from parent",
		"error: open /etc/secret: permission denied":  "error: open /etc/secret: permission denied",
		`stat C:\keys\token: Access is denied`:        `stat C:\keys\token: Access is denied`,
		"the vault kv/password: hunter-2-horse":       "the vault kv/password: ***",
		"open password: hunter-2-horse":               "open password: ***",
		"https://example.com/token: 9f8e7d6c5b4a3921": "https://example.com/token: ***",
	} {
		if got := New().Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
