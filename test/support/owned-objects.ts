/** One object of every kind that belongs to a key, created through the API. */
import { WebSocket } from 'ws'
import { follow, upload } from '../../src/client/client.ts'
import { type Client, createClient } from './client.ts'
import { overHttp, type Transport } from '../../src/client/transport.ts'
import type { KeyScope } from '../../src/core/access/caller.ts'
import { operations } from '../../src/operations/index.ts'
import { protocol, subprotocol } from '../../src/engine/relay/tunnel/messages.ts'
import type { Homes } from './homes.ts'
import { busybox } from './shell.ts'
import { waitUntil } from './wait.ts'

/** A key, and clients that use it. */
export interface KeyHolder {
  readonly key: string
  readonly keyId: string
  readonly client: Client
  readonly transport: Transport
}

const addressed = Object.entries(operations).map(([name, { http }]) => ({ name, http }))

export async function keyHolder(
  { engine, baseUrl }: Homes,
  scopes: KeyScope[] = ['browser', 'scrape', 'shell', 'relay'],
): Promise<KeyHolder> {
  const { key, key_id: keyId } = await engine.keys.create({ name: scopes.join(), scopes })
  const transport = overHttp(baseUrl, { 'x-api-key': key })
  return { key, keyId, transport, client: createClient(transport, addressed) }
}

/** The objects of a key, by their IDs. */
export interface OwnedObjects {
  readonly session: string
  readonly frameToken: string
  readonly provision: string
  readonly profile: string
  readonly crawl: string
  readonly batch: string
  readonly extraction: string
  readonly relay: string
  readonly relayToken: string
  readonly approval: string
  readonly handoff: string
  /** Only with Docker. */
  readonly shell?: string
  readonly exec?: string
  readonly artifact?: string
}

/** A name that every key may use for its own objects. */
export const commonName = 'shop'

/** The same for browsers of the relay, which share their names with sessions. */
export const commonRelayName = 'laptop'

/** Creates one object of every kind. `site` is crawled; the pool must have slots for two sessions. */
export async function createOwnedObjects(homes: Homes, holder: KeyHolder, site: string): Promise<OwnedObjects> {
  const { client } = holder
  const { session_id: session, frame_token: frameToken } = await client.createSession({ requested_name: commonName })
  await upload(
    holder.transport,
    'PUT /sessions/{session_id}/files/{name}',
    { session_id: session, name: 'report.pdf' },
    content(),
  )
  const approval = await createApproval(client)
  const { handoff_id: handoff } = await client.requestHandoff({ session_id: session!, reason: 'log in' })
  const { provision_id: provision } = await client.createSession({})
  const { profile_id: profile } = await client.saveProfile({ name: 'login', session_id: session! })
  const { id: crawl } = (await client.crawl({ url: site, async: true })) as { id: string }
  const { id: batch } = await client.batchScrape({ urls: [site] })
  const { id: extraction } = await client.extract({ urls: [site], prompt: 'the title' })
  const { token, token_id: relayToken } = await client.createRelayToken({})
  const relay = await connectWithoutBrowser(homes, token, holder)
  const shell = busybox.absent === null ? await createShellObjects(holder) : {}
  return {
    session: session!,
    frameToken: frameToken!,
    provision: provision!,
    profile,
    crawl,
    batch,
    extraction,
    relay,
    relayToken,
    approval,
    handoff,
    ...shell,
  }
}

/** Begins a call that waits for approval until its session ends. */
async function createApproval(client: Client): Promise<string> {
  const { session_id } = await client.createSession({ confirm: ['eval'] })
  const call = client.cdp({ session_id: session_id!, method: 'Runtime.evaluate', params: { expression: '1' } })
  // Its session ends first.
  call.catch(() => {})
  await waitUntil(async () => (await client.listApprovals()).total > 0)
  return (await client.listApprovals()).approvals[0]!.approval_id
}

async function* content() {
  yield Buffer.from('x')
}

/** Connects without a browser: sends the hello message, and stays connected by answering heartbeats. */
async function connectWithoutBrowser({ baseUrl }: Homes, token: string, { client }: KeyHolder): Promise<string> {
  const headers = { authorization: `Bearer ${token}` }
  const socket = new WebSocket(`${baseUrl.replace('http', 'ws')}/relay/connect`, subprotocol, { headers })
  const browser = { product: 'None/1', protocol_version: '1.3', user_agent: 'none', headless: true }
  const hello = {
    type: 'hello',
    proto: protocol,
    version: '0',
    platform: 'test',
    name: commonRelayName,
    policy: 'full',
    redact: true,
    browser,
  }
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const beat = JSON.stringify({ type: 'beat' })
  socket.on('message', (message) => String(message) === beat && socket.send(beat))
  socket.send(JSON.stringify(hello))
  await waitUntil(async () => (await client.listRelays()).sessions.length > 0)
  return (await client.listRelays()).sessions[0]!.id
}

async function createShellObjects({
  client,
  transport,
}: KeyHolder): Promise<Pick<OwnedObjects, 'shell' | 'exec' | 'artifact'>> {
  const { session_id: shell } = await client.createShell({ image: busybox.image, name: commonName })
  const body = { session_id: shell, command: 'echo 42 > /output/plot.png', on_disconnect: 'continue' }
  let [exec, artifact] = ['', '']
  for await (const frame of follow(transport, 'POST /shell/exec/stream', body)) {
    const { exec_id, artifact_id } = frame as unknown as Record<string, string>
    exec ||= exec_id ?? ''
    artifact ||= artifact_id ?? ''
  }
  return { shell, exec, artifact }
}
