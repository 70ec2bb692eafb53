/**
 * The key with which this installation signs its requests as a bot: Web Bot Auth (draft-meunier-web-bot-auth-architecture)
 * by HTTP message signatures (RFC 9421) with Ed25519. A file has the private key as JWK (RFC 8037), with the origin of
 * the server that publishes the public one.
 */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { EngineConfig } from '../../core/config/config.ts'
import type { SignedDirectory } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { systemCode, systemReason } from '../../core/errors/system-errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { createAtomic, privateDir } from '../../core/state/files.ts'

export type BotKeyPlace = Pick<EngineConfig, 'botKeyFile' | 'stateDir'>

const keyPart = z.string().regex(/^[\w-]{43}$/)
const keyFile = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: keyPart,
  d: keyPart,
  agent: z.url({ protocol: /^https$/ }).transform((url) => new URL(url).origin),
})

/** Headers of a signed request, with names in lower case. */
export type BotHeaders = Readonly<Record<'signature' | 'signature-input' | 'signature-agent', string>>

/** Returns the path of the key. */
export const botKeyPath = ({ botKeyFile, stateDir }: BotKeyPlace): string =>
  botKeyFile ?? join(stateDir, 'bot-key.json')

/** Reads the key; undefined if there is none. @throws BaxError `engine_failed`, which hides the path from callers */
export async function readBotKey(place: BotKeyPlace): Promise<BotKey | undefined> {
  const path = botKeyPath(place)
  try {
    return new BotKey(keyFile.parse(JSON.parse(await readFile(path, 'utf8'))))
  } catch (cause) {
    const code = systemCode(cause)
    if (code === 'ENOENT' && place.botKeyFile === undefined) return undefined
    const problem = code === undefined ? `${path} is no key of a bot` : `cannot read ${path}: ${systemReason(cause)}`
    throw new BaxError('engine_failed', problem, { cause, hint: 'create a key with "bax key bot --agent https://…"' })
  }
}

/** Creates the key, readable for this user only. @throws BaxError `already_exists`, `invalid_request` */
export async function createBotKey(place: BotKeyPlace, agent: string): Promise<BotKey> {
  const path = botKeyPath(place)
  const { privateKey } = generateKeyPairSync('ed25519')
  const file = keyFile.safeParse({ ...privateKey.export({ format: 'jwk' }), agent })
  if (!file.success) throw new BaxError('invalid_request', `--agent: ${JSON.stringify(agent)} is no https URL`)
  await privateDir(dirname(path))
  const text = `${JSON.stringify(file.data)}\n`
  if (createAtomic(path, text) !== text)
    throw new BaxError('already_exists', `there is a key in ${path}`, {
      hint: 'sites know it by its key ID; delete the file to create another one',
    })
  return new BotKey(file.data)
}

export class BotKey {
  /** Origin of the server that publishes the public key. */
  readonly agent: string
  /** Thumbprint of the public key (RFC 7638). */
  readonly keyId: string
  readonly #public: { readonly crv: string; readonly kty: string; readonly x: string }
  readonly #private: KeyObject

  constructor({ agent, d, crv, kty, x }: z.output<typeof keyFile>) {
    this.agent = agent
    this.#public = { crv, kty, x }
    this.keyId = createHash('sha256').update(JSON.stringify(this.#public)).digest('base64url')
    this.#private = createPrivateKey({ key: { crv, kty, x, d }, format: 'jwk' })
  }

  /** URL of the public key. */
  get directoryUrl(): string {
    return `${this.agent}/.well-known/http-message-signatures-directory`
  }

  /** Signs a request for a URL: its host, and who signs. */
  headersFor(href: string): BotHeaders {
    const agent = JSON.stringify(this.agent)
    const parts = [['"@authority"', new URL(href).host] as const, ['"signature-agent"', agent] as const]
    return { 'signature-agent': agent, ...this.#sign(parts, 'web-bot-auth') }
  }

  /** Returns the public key as sites fetch it from `agent` (draft-meunier-http-message-signatures-directory). */
  directory(): SignedDirectory {
    const authority = ['"@authority";req', new URL(this.agent).host] as const
    return {
      body: JSON.stringify({ keys: [{ ...this.#public, kid: this.keyId, use: 'sig' }] }),
      headers: {
        'content-type': 'application/http-message-signatures-directory+json',
        ...this.#sign([authority], 'http-message-signatures-directory'),
      },
    }
  }

  /** Signs components of a message, each with its value (RFC 9421, 2.5). */
  #sign(components: readonly (readonly [name: string, value: string])[], tag: string) {
    const created = Math.floor(Date.now() / 1000)
    const expires = created + limits.identity.signatureSecs
    const nonce = randomBytes(64).toString('base64')
    const names = components.map(([name]) => name).join(' ')
    const input =
      `(${names});created=${created};keyid="${this.keyId}";alg="ed25519";expires=${expires};` +
      `nonce="${nonce}";tag="${tag}"`
    const lines = [...components, ['"@signature-params"', input] as const].map(([name, value]) => `${name}: ${value}`)
    const signature = sign(null, Buffer.from(lines.join('\n')), this.#private).toString('base64')
    return { 'signature-input': `sig1=${input}`, signature: `sig1=:${signature}:` }
  }
}
