/** Callers and their permissions. Every operation declares its scope, and everything created belongs to its caller. */
import { BaxError } from '../errors/errors.ts'

/** Scopes of a key; `admin` allows everything and sees the resources of all keys. */
export const keyScopes = ['browser', 'scrape', 'shell', 'relay', 'admin'] as const
export type KeyScope = (typeof keyScopes)[number]

/** Scope that an operation requires; a public one needs no key. */
export type Scope = KeyScope | 'public'

export interface Caller {
  /** Key that the caller's resources belong to; null where no keys are in use. */
  readonly keyId: string | null
  readonly name: string | null
  readonly scopes: readonly KeyScope[]
  readonly admin: boolean
}

/** The caller where no keys are in use; it may do everything. */
export const keylessCaller: Caller = { keyId: null, name: null, scopes: keyScopes, admin: true }

/** A caller without a key where keys are in use; limited to public operations and to what its token allows. */
export const anonymousCaller: Caller = { keyId: null, name: null, scopes: [], admin: false }

/**
 * Returns the token of a call without a key, from its query or its `Authorization: Bearer` header; null without one.
 * The header holds no token where no keys are in use or a key was sent.
 */
export const tokenOf = (
  inQuery: string | undefined,
  { caller, token }: { readonly caller: Caller; readonly token?: string | null },
): string | null => inQuery ?? (caller === anonymousCaller ? (token ?? null) : null)

/** Access that an operation requires. */
export interface Access {
  /** One of these is enough. */
  readonly scope: Scope | readonly Scope[]
  /** A token in `?token=` may replace a key; the operation itself checks it, and rejects `anonymousCaller` without one. */
  readonly token?: true
  /** A page for browsers without secrets: any site may link to it. */
  readonly page?: true
}

export const isAllowed = ({ scopes, admin }: Caller, { scope }: Access): boolean =>
  admin || [scope].flat().some((one) => one === 'public' || scopes.includes(one))

/** Returns whether the caller sees a resource of `owner`; unowned resources are visible to those who see everything. */
export const canSee = ({ admin, keyId }: Caller, owner: string | null): boolean =>
  admin || (keyId !== null && keyId === owner)

export interface Owned {
  /** ID of a key; null for resources created where no keys are in use. */
  readonly owner: string | null
}

export const isVisibleTo =
  (caller: Caller) =>
  ({ owner }: Owned): boolean =>
    canSee(caller, owner)

/**
 * Finds a resource by name, which several keys may use: the caller's own one, or the only visible one.
 * @throws BaxError `conflict` when several other keys use the name.
 */
export function findByName<T extends Owned & { readonly name: string | null }>(
  things: readonly T[],
  name: string,
  caller: Caller,
): T | undefined {
  const found = things.filter((thing) => thing.name === name && canSee(caller, thing.owner))
  const own = found.find(({ owner }) => owner === caller.keyId)
  if (own || found.length <= 1) return own ?? found[0]
  throw new BaxError('conflict', `${found.length} keys use the name ${JSON.stringify(name)}`, {
    hint: 'use the id instead of the name',
  })
}
