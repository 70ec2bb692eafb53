/**
 * Passkeys in the pages of a session, by virtual authenticators of Chromium: it compares their RP IDs with the origins
 * of pages, and pages get signatures, never a private key.
 */
import type { BrowserContext, CDPSession, Page } from 'playwright'
import type { Passkey } from '../../../core/access/credentials.ts'
import { asBaxError, messageOf } from '../../../core/errors/errors.ts'
import type { EventLog } from '../../../core/events/events.ts'
import type { UsableCredential } from '../../../core/stores.ts'
import { oncePer } from '../../../core/once-per.ts'
import { unlessGone } from '../page/playwright-errors.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { passkeyUseOf } from './passkey-use.ts'

/** Device of a person who confirms every request, as passkeys of platforms are. */
const options = {
  protocol: 'ctap2',
  ctap2Version: 'ctap2_1',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const

interface Authenticator {
  readonly session: CDPSession
  readonly authenticatorId: string
}

/** Uses the passkeys of a credential in all tabs; returns the RP IDs of those that it has. */
export async function usePasskeys(
  { browserContext, events }: Pick<BatchTarget, 'browserContext' | 'events'>,
  credential: UsableCredential,
): Promise<string[]> {
  await passkeysOf(browserContext).use(credential, events)
  return [...new Set(credential.passkeys?.map(({ rpId }) => rpId))]
}

/** Returns whether a site with this RP ID has one of the origins. */
const isFor = (rpId: string, { origins }: UsableCredential): boolean =>
  origins.some((origin) => {
    const { hostname } = new URL(origin)
    return hostname === rpId || hostname.endsWith(`.${rpId}`)
  })

type Reported = Omit<Passkey, 'rpId'> & { readonly rpId?: string }

/** Returns a passkey as Chromium reports it; the RP ID is optional in its types only. */
const passkeyOf = ({ rpId = '', ...others }: Reported): Passkey => ({ ...others, rpId })

const passkeysOf = oncePer<BrowserContext, SessionPasskeys>((context) => new SessionPasskeys(context))

async function isThere({ session, authenticatorId }: Authenticator): Promise<boolean> {
  try {
    await session.send('WebAuthn.getCredentials', { authenticatorId })
    return true
  } catch (error) {
    // Any other error is of the page, such as its end.
    return !/has not been enabled|Could not find a Virtual Authenticator/i.test(String(error))
  }
}

class SessionPasskeys {
  readonly #context: BrowserContext
  /** Credentials in use, the latest last. */
  readonly #credentials = new Map<string, UsableCredential>()
  /** Passkeys with their current number of uses, and the credential that each belongs to. */
  readonly #passkeys = new Map<string, { readonly owner: UsableCredential; passkey: Passkey }>()
  readonly #authenticators = new Map<Page, Promise<Authenticator>>()
  #events: EventLog | undefined

  constructor(context: BrowserContext) {
    this.#context = context
  }

  async use(credential: UsableCredential, events: EventLog): Promise<void> {
    const isFirst = !this.#events
    this.#events = events
    if (isFirst) {
      this.#context.on('page', (page) => void this.#openLater(page))
      passkeyUseOf(this.#context).restore = () => this.#restore()
    }
    await this.#restore()
    const { name, passkeys = [] } = credential
    this.#credentials.delete(name)
    this.#credentials.set(name, credential)
    passkeyUseOf(this.#context).names = [...this.#credentials.keys()]
    const known = new Set(passkeys.map(({ credentialId }) => credentialId))
    // The credential was rotated since its last use.
    const lost = [...this.#passkeys].filter(([id, { owner }]) => owner.name === name && !known.has(id))
    for (const [id] of lost) await this.#remove(id)
    for (const passkey of passkeys) {
      this.#passkeys.set(passkey.credentialId, { owner: credential, passkey })
      await this.#copy(passkey)
    }
    await Promise.all(this.#context.pages().map((page) => this.#open(page)))
  }

  /** Opens the authenticator of a page, with all passkeys. */
  #open(page: Page): Promise<Authenticator> {
    let opened = this.#authenticators.get(page)
    if (!opened) {
      opened = this.#make(page)
      this.#authenticators.set(page, opened)
      const forget = () => this.#authenticators.delete(page)
      page.once('close', forget)
      opened.then(({ session }) => session.once('close', forget), forget)
    }
    return opened
  }

  /** Opens authenticators again: Chromium removes those of a page when any CDP session of the page ends. */
  async #restore(): Promise<void> {
    await Promise.all(
      [...this.#authenticators].map(async ([page, opening]) => {
        const one = await unlessGone(opening)
        if (!one || (await isThere(one))) return
        this.#authenticators.delete(page)
        await unlessGone(one.session.detach())
        await unlessGone(this.#open(page))
      }),
    )
  }

  async #openLater(page: Page): Promise<void> {
    try {
      await unlessGone(this.#open(page))
    } catch (error) {
      this.#fail('a tab has no passkeys', error)
    }
  }

  async #make(page: Page): Promise<Authenticator> {
    const session = await this.#context.newCDPSession(page)
    await session.send('WebAuthn.enable')
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', { options })
    const made = { session, authenticatorId }
    session.on('WebAuthn.credentialAdded', ({ credential }) => this.#onCreated(made, passkeyOf(credential)))
    session.on('WebAuthn.credentialAsserted', ({ credential }) => this.#onUsed(made, passkeyOf(credential)))
    for (const { passkey } of this.#passkeys.values())
      await session.send('WebAuthn.addCredential', { authenticatorId, credential: passkey })
    return made
  }

  #onCreated(by: Authenticator, passkey: Passkey): void {
    const credentials = [...this.#credentials.values()]
    const owner = credentials.findLast((one) => one.passkeys !== undefined && isFor(passkey.rpId, one))
    if (owner) return this.#keep(owner, passkey, { created: true, by })
    const refused = credentials.at(-1)!
    const error =
      refused.passkeys === undefined
        ? 'it has no passkeys ("bax credential rotate --passkey")'
        : `it is for ${refused.origins.join(', ')}`
    this.#report(refused.name, passkey, error)
    this.#later(by.session.send('WebAuthn.removeCredential', { ...by, credentialId: passkey.credentialId }))
  }

  #onUsed(by: Authenticator, passkey: Passkey): void {
    const owner = this.#passkeys.get(passkey.credentialId)?.owner
    if (!owner) return
    this.#events?.emit('credential.used', {
      credential: owner.name,
      part: 'passkey',
      success: true,
      rp_id: passkey.rpId,
    })
    this.#keep(owner, passkey, { created: false, by })
  }

  #keep(
    owner: UsableCredential,
    passkey: Passkey,
    { created, by }: { readonly created: boolean; readonly by: Authenticator },
  ): void {
    this.#passkeys.set(passkey.credentialId, { owner, passkey })
    const stored = owner.keepPasskey(passkey).then(
      () => created && this.#report(owner.name, passkey),
      (error: unknown) => {
        if (created) this.#report(owner.name, passkey, messageOf(error))
        else this.#fail(`the use of a passkey of ${owner.name} was not stored`, error)
      },
    )
    passkeyUseOf(this.#context).track(stored.then(() => {}))
    this.#later(this.#copy(passkey, by))
  }

  #report(credential: string, { rpId }: Passkey, error?: string): void {
    this.#events?.emit('credential.registered', {
      credential,
      rp_id: rpId,
      success: error === undefined,
      ...(error !== undefined && { error }),
    })
  }

  /** Sets the number of uses in all other tabs: sites refuse a passkey whose number does not increase. */
  async #copy(passkey: Passkey, except?: Authenticator): Promise<void> {
    await this.#eachOther(except, async ({ session, authenticatorId }) => {
      const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId })
      const { credentialId } = passkey
      if (credentials.some((one) => one.credentialId === credentialId))
        await session.send('WebAuthn.removeCredential', { authenticatorId, credentialId })
      await session.send('WebAuthn.addCredential', { authenticatorId, credential: passkey })
    })
  }

  async #remove(credentialId: string): Promise<void> {
    this.#passkeys.delete(credentialId)
    await this.#eachOther(undefined, ({ session, authenticatorId }) =>
      session.send('WebAuthn.removeCredential', { authenticatorId, credentialId }),
    )
  }

  async #eachOther(except: Authenticator | undefined, work: (one: Authenticator) => Promise<unknown>): Promise<void> {
    await Promise.all(
      [...this.#authenticators.values()].map(async (opening) => {
        const one = await unlessGone(opening)
        if (one && one !== except) await unlessGone(work(one))
      }),
    )
  }

  #later(work: Promise<unknown>): void {
    unlessGone(work).catch((error: unknown) => this.#fail('passkeys are missing in a tab', error))
  }

  #fail(what: string, error: unknown): void {
    this.#events?.emit('error', { code: asBaxError(error).code, message: `${what}: ${messageOf(error)}` })
  }
}
