/** A proxy that only passes requests and small responses on, without checks: what another process costs at least. */
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'

const { hostname: host, port } = new URL(process.argv[2]!)
const agent = new Agent({ keepAlive: true })

/** Reads a body as text of single bytes, which Node writes together with the headers. */
async function bodyOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('latin1')
}

const server = createServer(async (incoming, outgoing) => {
  const { method, url: path, headers } = incoming
  const body = await bodyOf(incoming)
  const forwarded = request({ host, port, agent, method, path, headers }, async (response) => {
    const { connection: _connection, 'keep-alive': _keepAlive, ...kept } = response.headers
    const text = await bodyOf(response)
    outgoing.writeHead(response.statusCode!, kept).end(text, 'latin1')
  })
  forwarded.end(body, 'latin1')
})
server.listen(0, '127.0.0.1', () => process.send!(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.on('disconnect', () => process.exit(0))
