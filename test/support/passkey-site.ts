/** A site with passkeys, which checks signatures and their numbers as servers do. */
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

interface Registered {
  readonly publicKey: string
  count: number
}

const html = (title: string, body: string) =>
  `<!doctype html><meta charset=utf-8><title>${title}</title><h1>${title}</h1>${body}<p role=status></p><script>${script}</script>`

/** Functions of the pages: base64url, registration and log-in. */
const script = `
const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
const say = (words) => { document.querySelector('[role=status]').textContent = words }
const post = (path, body) => fetch(path, { method: 'POST', body: JSON.stringify(body) }).then((answer) => answer.json())
async function create(rpId) {
  try {
    const { response, id } = await navigator.credentials.create({ publicKey: {
      challenge: bytes((await post('/challenge')).challenge), rp: { id: rpId, name: 'Shop' },
      user: { id: new Uint8Array([1, 2, 3]), name: 'ann', displayName: 'Ann' },
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' } } })
    await post('/created', { id, publicKey: text(response.getPublicKey()) })
    say('Passkey created')
  } catch (error) { say('Not created: ' + error) }
}
async function signIn(rpId, timeout = 5000) {
  try {
    const { response, id } = await navigator.credentials.get({ publicKey: {
      challenge: bytes((await post('/challenge')).challenge), rpId, timeout, userVerification: 'required' } })
    const { ok, why } = await post('/signed', { id, data: text(response.authenticatorData),
      client: text(response.clientDataJSON), signature: text(response.signature) })
    if (ok) location = '/account'
    else document.body.insertAdjacentHTML('beforeend', '<p role=alert>' + why + '</p>')
  } catch (error) { document.body.insertAdjacentHTML('beforeend', '<p role=alert>Refused: ' + error.name + '</p>') }
}`

/** Returns the pages, and the passkeys that were created on them. */
export function passkeySite(rpId = 'localhost') {
  const registered = new Map<string, Registered>()
  const challenges = new Set<string>()
  const posted =
    (answer: (body: Record<string, string>) => object) =>
    async (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, string>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer(body)))
    }
  const refusal = ({ id = '', data = '', client = '', signature = '' }: Record<string, string>): string | undefined => {
    const known = registered.get(id)
    if (!known) return 'unknown passkey'
    const [clientData, authenticatorData] = [Buffer.from(client, 'base64'), Buffer.from(data, 'base64')]
    const { challenge } = JSON.parse(clientData.toString()) as { challenge: string }
    if (!challenges.delete(challenge)) return 'unknown challenge'
    const key = createPublicKey({ key: Buffer.from(known.publicKey, 'base64'), format: 'der', type: 'spki' })
    const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()])
    if (!verify('sha256', signed, key, Buffer.from(signature, 'base64'))) return 'wrong signature'
    const count = authenticatorData.readUInt32BE(33)
    if (count <= known.count) return 'a copy of a passkey'
    known.count = count
    return undefined
  }
  const pages = {
    '/settings': html('Settings', `<button onclick="create('${rpId}')">Create a passkey</button>`),
    '/login': html('Log in', `<button onclick="signIn('${rpId}')">Sign in with a passkey</button>`),
    '/either': html(
      'Log in',
      `<form onsubmit="return false"><label>User name <input name=user autocomplete=username></label>
       <label>Password <input type=password name=pw></label><button>Log in</button>
       <button type=button onclick="signIn('${rpId}')">Use your passkey</button></form>`,
    ),
    '/name-first': html(
      'Log in',
      `<form onsubmit="signIn('${rpId}'); return false"><label>User name <input name=user autocomplete=username></label>
       <button>Continue</button></form>`,
    ),
    '/asks-later': html(
      'Log in',
      `<form action=/waits><label>User name <input name=user autocomplete=username></label><button>Log in</button></form>`,
    ),
    '/waits': html('Second step', `<script>setTimeout(() => signIn('${rpId}'), 1200)</script>`),
    '/opener': html('Opener', `<a href=/login target=_blank>Log in</a>`),
    '/account': html('Account', '<p>Welcome Ann</p>'),
    '/challenge': posted(() => {
      const challenge = randomBytes(32).toString('base64url')
      challenges.add(challenge)
      return { challenge }
    }),
    '/created': posted(({ id = '', publicKey = '' }) => {
      registered.set(id, { publicKey, count: 0 })
      return {}
    }),
    '/signed': posted((body) => {
      const why = refusal(body)
      return why === undefined ? { ok: true } : { ok: false, why }
    }),
  }
  return { pages, registered }
}
