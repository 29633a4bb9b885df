package decode

// httpDecoders know what clients say of servers over HTTP. They come before the vaguer
// ones: -32001 is a session that is gone for one SDK, and a time that is up for another.
func httpDecoders() []decoder {
	return []decoder{
		{pattern: `(?i)session not found|no valid session ID|Mcp-Session-Id header is required|session (?:missing|has expired)|invalid session ID`, explain: always(Diagnosis{
			Title: "the server does not know the client's session", Stood: "HTTP 404 or 400 to a session's id: the server was started again since, or there are several of it behind one address",
			Fix: []string{
				"start the client anew: it begins a session then",
				"in the server: answer 404 to an id that it does not know, and 400 only where there is none; keep a session on one instance",
			},
			Checks: []string{"session-unknown-404", "session-missing-400"},
		})},
		{pattern: `Not Acceptable|[Mm]ust accept (?:both )?(?:application/json|text/event-stream)|(?:HTTP|status)[^0-9]{0,8}406`, explain: always(Diagnosis{
			Title: "the server wants another Accept", Stood: "HTTP 406: the request did not say that it takes both JSON and streams of events",
			Fix:    []string{"send Accept: application/json, text/event-stream with every POST", "in the server: take */* for both"},
			Checks: []string{"accept-strict", "status-unexpected"},
		})},
		{pattern: `Non-200 status code \(40[045]\)|Cannot (?:POST|GET) /|Failed to open SSE stream: (?:Not Found|Method Not Allowed)|expected status code 200|405 Method Not Allowed`, explain: noSuchPage},
		{pattern: `(?i)(?:unexpected|invalid|unsupported) content[- ]type`, explain: always(Diagnosis{
			Title: "the answer is neither JSON nor a stream of events", Stood: "a page, as of a login, of a proxy or of another application at that address",
			Fix:    []string{"look at the url, and at what stands before the server", "in the server: send Content-Type: application/json, or text/event-stream"},
			Checks: []string{"content-type", "status-unexpected"},
		})},
		{pattern: `Endpoint origin does not match`, explain: always(Diagnosis{
			Title: "the server sends messages to another origin", Stood: "an endpoint event with an address of another host or port",
			Fix: []string{"in the server: name a path of its own; behind a proxy, do not make an address of the inner host"}, Checks: []string{"sse-endpoint-offsite"},
		})},
		{pattern: `Protected resource .{0,200} does not match|does not support (?:code challenge|S256)|does not implement (?:PKCE|OAuth 2\.0 Protected)|metadata issuer|(?:OAuth|OpenID provider|protected resource) metadata`, explain: always(Diagnosis{
			Title: "the documents that say how to log in are wrong", Stood: "a document below /.well-known/ that is missing, of another address, or does not name S256",
			Fix:    []string{"in the server: make resource the url that clients write, and issuer the address of the authorization server, both as they are seen from outside"},
			Checks: []string{"auth-metadata", "auth-challenge"},
		})},
		{pattern: `self[- ]signed certificate|unable to (?:verify the first certificate|get (?:local )?issuer certificate)|certificate (?:has expired|signed by unknown authority|verify failed)|CERT_HAS_EXPIRED|ERR_TLS_CERT_ALTNAME_INVALID|x509: `, explain: always(Diagnosis{
			Title: "the client does not trust the server's certificate", Stood: "a certificate that has ended, is of another host, or of an authority that the client does not know",
			Fix:    []string{"from outside: NODE_EXTRA_CA_CERTS=FILE for a private authority (toolx: --cacert FILE)", "in the server: send the whole chain, for this host's name"},
			Checks: []string{"tls-cert"},
		})},
		{pattern: `wrong version number|\bEPROTO\b|does not look like a TLS handshake|HTTP response to HTTPS client`, explain: always(Diagnosis{
			Title: "there is no TLS at the address", Stood: "plain HTTP, where the url says https",
			Fix: []string{"write http:// for a server of this machine that has no certificate"}, Checks: []string{"tls-handshake"},
		})},
		{pattern: `getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|no such host|Name or service not known|nodename nor servname`, explain: always(Diagnosis{
			Title: "the server's host name is not known", Stood: "nothing: there is no address to connect to",
			Fix: []string{"look at the name in the url, and whether this machine is in the network that knows it (VPN, Docker)"}, Checks: []string{"dns"},
		})},
		{pattern: `blocked by CORS policy|Access-Control-Allow-Origin`, explain: always(Diagnosis{
			Title: "the browser does not let the page read the answer", Stood: "an answer that does not allow the page's origin",
			Fix: []string{"in the server: allow that origin, with the headers Mcp-Session-Id and MCP-Protocol-Version, and expose Mcp-Session-Id"}, Checks: []string{"cors-reflects"},
		})},
		{pattern: `(?i)invalid (?:host|origin) header|(?:host|origin) not allowed|DNS rebinding`, explain: always(Diagnosis{
			Title: "the server takes no requests under that name", Stood: "HTTP 403: Host or Origin is none of those that it allows, which keeps web pages from elsewhere away",
			Fix: []string{"write localhost or 127.0.0.1 as the server expects it; in the server: allow the name (allowedHosts)"}, Checks: []string{"origin-not-checked"},
		})},
		{pattern: `Body Timeout Error|SSE stream disconnected|Maximum reconnection attempts|request terminated without response`, explain: always(Diagnosis{
			Title: "a stream broke before the answer", Stood: "a stream of events that ended, or on which nothing came for so long that the client, or a proxy, gave it up",
			Fix:    []string{"in the server: send a comment (a line with a colon) every 15 s, and X-Accel-Buffering: no", "in the proxy: turn buffering off, and raise its time for reading"},
			Checks: []string{"sse-buffered", "sse-no-final"},
		})},
		{pattern: `\bfetch failed\b|Failed to fetch`, explain: always(Diagnosis{
			Title: "no answer came from the server's address", Stood: "nothing that a client could read; the cause is behind the message, or not told: no connection, no such name, no trust in the certificate",
			Fix: []string{"look for the cause that the client logs with it: ENOTFOUND, ECONNREFUSED, a certificate"}, Checks: []string{"connect", "dns", "tls-cert", "tls-handshake"},
		})},
	}
}

func noSuchPage([]string) Diagnosis {
	return Diagnosis{
		Title: "there is no MCP at the address, or by another transport", Stood: "HTTP 404 or 405, as of a web server that knows no such page",
		Fix:    []string{"look at the url: its path is often /mcp (streamable HTTP) or /sse (the older one), and the client must mean the same of the two"},
		Checks: []string{"status-unexpected", "legacy-sse", "get-status"},
	}
}
