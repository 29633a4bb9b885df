// A server made with the TypeScript SDK, version 2, which speaks revision 2026-07-28.
//
//   node sdk2.mjs stdio              both eras, on stdin and stdout
//   node sdk2.mjs stateless|reject   over HTTP; the older era is served without sessions, or not at all
//
// It says on stderr where it listens.
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

function makeServer() {
  const server = new McpServer({ name: 'sdk2', version: '1.0.0' })
  server.registerTool('greet', {
    description: 'Greets someone.',
    inputSchema: z.object({ name: z.string() }),
    outputSchema: z.object({ greeting: z.string() })
  }, async ({ name }) => {
    const structuredContent = { greeting: `hello ${name}` }
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
  })
  server.registerTool('fail', { description: 'Fails.', inputSchema: z.object({}) }, async () => {
    throw new Error('as it should')
  })
  server.registerResource('motto', 'text://motto', { mimeType: 'text/plain' }, async uri => (
    { contents: [{ uri: uri.href, text: 'festina lente' }] }
  ))
  server.registerPrompt('toast', { argsSchema: z.object({ to: z.string() }) }, ({ to }) => (
    { messages: [{ role: 'user', content: { type: 'text', text: `To ${to}!` } }] }
  ))
  return server
}

// listen serves a handler of web requests.
function listen(handler) {
  const server = createServer(async (incoming, outgoing) => {
    const body = incoming.method === 'POST' ? Readable.toWeb(incoming) : undefined
    const request = new Request(new URL(incoming.url, 'http://127.0.0.1'), {
      method: incoming.method, headers: incoming.headers, body, duplex: 'half'
    })
    const response = await handler.fetch(request)
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    if (response.body) Readable.fromWeb(response.body).pipe(outgoing)
    else outgoing.end()
  })
  server.listen(0, '127.0.0.1', () => console.error(`listening on port ${server.address().port}`))
}

const mode = process.argv[2]
if (mode === 'stdio') serveStdio(makeServer)
else listen(createMcpHandler(makeServer, { legacy: mode }))
