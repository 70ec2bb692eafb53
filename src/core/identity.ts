/** Fields of the identity of a read, by name: without zod, to start fast. Their shapes are in `shapes/read/identity.ts`. */

export const identityNames = [
  'profile',
  'save_profile',
  'headers',
  'cookies',
  'user_agent',
  'locale',
  'timezone',
  'geolocation',
  'location',
  'mobile',
  'proxy',
  'sign',
  'skip_tls_verification',
] as const

export type IdentityName = (typeof identityNames)[number]

/** Kinds of proxies that Firecrawl has. Engines have none: they use their own connection. */
export const proxyKinds = ['basic', 'auto', 'stealth', 'enhanced'] as const

/** Whether a value of `proxy` is the kind of a proxy, which is no identity, rather than a proxy. */
export const isProxyKind = (value: unknown): value is (typeof proxyKinds)[number] =>
  proxyKinds.some((kind) => kind === value)

/** The fields of a request that uses no identity. */
export const noIdentity = { save_profile: false, mobile: false, sign: false, skip_tls_verification: false } as const

type Fields = { readonly [Name in IdentityName]?: unknown } & { readonly session_id?: unknown }

/** Returns the fields of the identity in a request. */
export const identityIn = <Input extends Fields>(input: Input): Pick<Input, IdentityName> =>
  Object.fromEntries(identityNames.map((name) => [name, input[name]])) as Pick<Input, IdentityName>

export const credentialNames = ['session_id', 'profile', 'cookies', 'headers'] as const

/** Returns the name of a field with which a site may recognize the caller; undefined without one. */
export const credentialIn = (input: Fields): (typeof credentialNames)[number] | undefined =>
  credentialNames.find((name) => input[name] !== undefined)

const asksFor = (name: string, value: unknown): boolean =>
  value !== undefined && value !== false && !(name === 'proxy' && isProxyKind(value))

/** Returns the name of a field that asks for an identity; undefined without one. */
export const identityFieldIn = (input: Fields): IdentityName | undefined =>
  identityNames.find((name) => asksFor(name, input[name]))

const fieldNames: ReadonlySet<string> = new Set([...identityNames, 'session_id'])

/**
 * Whether a field by its name and value asks for an identity, also in a request that cannot have one. In searches of
 * Firecrawl, `location` is a text.
 */
export const isIdentityField = (name: string, value: unknown): boolean =>
  fieldNames.has(name) && value !== null && asksFor(name, value) && !(name === 'location' && typeof value === 'string')

/** Whether a request asks for an identity. */
export const hasIdentity = (input: Fields): boolean => identityFieldIn(input) !== undefined
