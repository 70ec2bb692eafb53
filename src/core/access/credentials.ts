/** Shapes of stored credentials; responses never contain a secret. */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { parseUrl } from '../net/parse-url.ts'
import { listOf, named } from '../shapes/fields.ts'

const { nameChars, secretChars, passwordChars } = limits.credentials

/** Name of a credential. It contains no dot, which separates it from a part: `shop.password`. */
export const credentialName = z
  .string()
  .max(nameChars, { abort: true })
  .regex(/^[\w-]+$/, 'must consist of letters, digits, _ and -')

/** Parts of a credential that can be written into a field. */
export const credentialParts = ['username', 'password', 'totp'] as const
export type CredentialPart = (typeof credentialParts)[number]

/** Everything that a credential can have: the browser signs with its passkeys, which no field gets. */
export const credentialKinds = [...credentialParts, 'passkey'] as const
export type CredentialKind = (typeof credentialKinds)[number]

/** Reference to a part of a credential: `shop.password`. */
export const credentialReference = z
  .string()
  .max(nameChars + 10, { abort: true })
  .regex(/^[\w-]+\.(?:username|password|totp)$/, 'must be NAME.username, NAME.password or NAME.totp')

const origin = z
  .string()
  .max(limits.input.selectorChars)
  .refine((text) => originOf(text) !== undefined, 'must be a URL with http or https, such as https://shop.example')

/** Returns the origin of a URL; undefined unless it is one of HTTP. */
export function originOf(text: string): string | undefined {
  const url = parseUrl(text)
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.hostname.includes('*')
  return isPlain ? url.origin : undefined
}

const secrets = {
  username: z.string().min(1).max(secretChars).optional().describe('User name or email address'),
  password: z
    .string()
    .min(passwordChars)
    .max(secretChars)
    .optional()
    .describe(`Password, of at least ${passwordChars} characters: shorter ones cannot be removed from results`),
  totp: z
    .string()
    .min(1)
    .max(secretChars)
    .optional()
    .describe('Secret of the one-time codes: base32, or an otpauth://totp/ URI'),
  passkey: z
    .literal(true)
    .optional()
    .describe('Whether pages may create passkeys in it; when rotated, it starts without any'),
}

export const credentialSecrets = z.object(secrets)
export type CredentialSecrets = z.output<typeof credentialSecrets>

/** A passkey with its private key, as the WebAuthn domain of CDP has it. */
export interface Passkey {
  readonly credentialId: string
  readonly isResidentCredential: boolean
  readonly rpId: string
  /** PKCS#8, in base64. */
  readonly privateKey: string
  readonly userHandle?: string
  /** Number of its uses, by which sites recognize copies. */
  readonly signCount: number
  readonly backupEligibility?: boolean
  readonly backupState?: boolean
  readonly userName?: string
  readonly userDisplayName?: string
}

export const credentialInput = z
  .object({
    name: credentialName.describe('Name of the credential, unique among those of the key'),
    origins: listOf(origin).min(1).describe('Origins of the only pages that get its values'),
    ...secrets,
  })
  .refine(
    ({ password, totp, passkey }) => (password ?? totp ?? passkey) !== undefined,
    'needs a password, totp or passkey',
  )
export type CredentialInput = z.output<typeof credentialInput>

export const credentialRecord = named('Credential', {
  name: z.string(),
  origins: z.array(z.string()),
  parts: z.array(z.enum(credentialKinds)).describe('What it contains; no operation returns the values'),
  rp_ids: z.array(z.string()).optional().describe('RP IDs of its passkeys; empty before a page has created one'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type CredentialRecord = z.output<typeof credentialRecord>
