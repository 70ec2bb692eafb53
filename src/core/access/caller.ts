/** Who calls, and what that allows; every operation says what it needs, and everything that is made belongs to its caller. */

/** What a key can be allowed; `admin` allows everything, and sees what all keys have made. */
export const keyScopes = ['browser', 'scrape', 'shell', 'relay', 'admin'] as const
export type KeyScope = (typeof keyScopes)[number]

/** Needed for an operation; a public one needs no key. */
export type Scope = KeyScope | 'public'

export interface Caller {
  /** Whose things the caller sees, and who owns what it makes; null where no keys are in use. */
  readonly keyId: string | null
  readonly name: string | null
  readonly scopes: readonly KeyScope[]
  readonly admin: boolean
}

/** Where no keys are in use, everybody who gets here may do everything. */
export const everybody: Caller = { keyId: null, name: null, scopes: keyScopes, admin: true }

/** Came without a key where keys are in use: may do what is public, and what a token opens. */
export const nobody: Caller = { keyId: null, name: null, scopes: [], admin: false }

/**
 * The token that a call without a key shows, in its query or as `Authorization: Bearer`; null where it shows none. Where
 * no keys are in use, or a key was shown, the header holds no token.
 */
export const tokenOf = (
  inQuery: string | undefined,
  { caller, token }: { readonly caller: Caller; readonly token?: string | null },
): string | null => inQuery ?? (caller === nobody ? (token ?? null) : null)

/** What an operation asks of its caller. */
export interface Access {
  /** One of these is enough. */
  readonly scope: Scope | readonly Scope[]
  /** A token in `?token=` may stand for a key; the operation itself checks it, and refuses `nobody` without one. */
  readonly token?: true
  /** A page for browsers, without a secret: any site may link to it. */
  readonly page?: true
}

export const isAllowed = ({ scopes, admin }: Caller, { scope }: Access): boolean =>
  admin || [scope].flat().some((one) => one === 'public' || scopes.includes(one))

/** Whether what belongs to `owner` is there for the caller; what nobody owns is there for those who see all. */
export const sees = ({ admin, keyId }: Caller, owner: string | null): boolean =>
  admin || (keyId !== null && keyId === owner)
