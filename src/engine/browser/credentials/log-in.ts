/** Logs in on the page: finds the form, fills and submits it, and checks that it has worked. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ElementHandle, Frame, Page, Request, Response } from 'playwright'
import type { LoggedIn } from '../../../core/operation/credential-input.ts'
import type { CallLimit } from '../../../core/operation/command.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { CredentialKind, CredentialPart } from '../../../core/access/credentials.ts'
import type { UsableCredential } from '../../../core/stores.ts'
import { documentIn, isNavigating } from '../page/internals.ts'
import { isGone } from '../page/playwright-errors.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { shownUrl } from '../tabs/page-events.ts'
import { fillPart } from './fill-secret.ts'
import { findLogin } from './find-login.ts'
import { usePasskeys } from './passkeys.ts'
import { chooseApp, questionOf } from './question.ts'

const intervalMs = 50
/** Time without a form after which the log-in counts as done: pages replace one form by the next. */
const settledMs = 750
/** The same for a credential whose passkeys were not used: pages wait a moment before they ask for one. */
const unusedPasskeyMs = 3000
/** Name, password, code, and one more of each that a site may ask for on a page of its own. */
const mostForms = 6

interface Form {
  readonly frame: Frame
  readonly document: object | undefined
  readonly fields: ReadonlyMap<CredentialPart, ElementHandle>
  readonly submit: ElementHandle | null
  /** Button that logs in with a passkey, if the credential has one. */
  readonly passkey: ElementHandle | null
  readonly notice: string
}

const partOfField = { username: 'username', password: 'password', code: 'totp' } as const

/** @throws BaxError `login_failed` with what the page says, `origin_mismatch` */
export async function logIn(
  target: BatchTarget,
  page: Page,
  credential: UsableCredential,
  limit: CallLimit,
): Promise<LoggedIn> {
  const { name } = credential
  const end = performance.now() + limit.timeout
  const filled: CredentialKind[] = []
  const watched = watchAnswers(page)
  const usesPasskeys = (credential.passkeys?.length ?? 0) > 0
  if (usesPasskeys) await usePasskeys(target, credential)
  const waiting: Waiting = { end, signal: limit.signal, watched, usesPasskeys, passkeyUsedAt: undefined }
  const stopUses = target.events.listen(({ type, data }) => {
    if (type !== 'credential.used' || data['credential'] !== name || data['part'] !== 'passkey') return
    filled.push('passkey')
    waiting.passkeyUsedAt = performance.now()
  })
  try {
    let form = await nextForm(page, undefined, waiting)
    if (!form) {
      await assertNoQuestion(page, name)
      throw failed(name, 'the page has no log-in form', { hint: 'open the page with the log-in first' })
    }
    for (let count = 1; form && count <= mostForms; count++) {
      const fields = [...form.fields].filter(([part]) => !form!.passkey || part === 'username')
      for (const [part] of fields)
        if (credential[part] === undefined && !form.passkey)
          throw failed(name, `the page asks for a ${part}, which ${name} does not have`)
      for (const [part, handle] of fields) {
        if (credential[part] === undefined) continue
        await fillPart(target, { selector: `the ${part} field`, handle }, credential, part)
        filled.push(part)
      }
      const invalid = await invalidField(form)
      if (invalid) throw failed(name, `the browser does not submit the form: ${invalid}`, { hint: fillFirst })
      watched.begin()
      await submit(form, limit)
      const sent: Form = form
      form = await nextForm(page, sent, waiting)
      if (!form && credential.totp !== undefined && !filled.includes('totp') && (await chooseApp(page, limit)))
        form = await nextForm(page, sent, waiting)
      if (form && isSame(form, filled)) break
    }
    if (form) throw rejected(name, await withNotice(page, form, waiting))
    await assertNoQuestion(page, name)
    const failure = watched.failure()
    if (failure) throw failed(name, `the page after it did not load: ${failure}`)
    const status = watched.refused() || watched.status()
    if (status >= 400) throw failed(name, `the site answered with status ${status}`)
    return { url: shownUrl(page.url()), filled }
  } finally {
    watched.stop()
    stopUses()
  }
}

/** @throws BaxError `login_failed` for a page whose question has to be answered before the log-in is complete */
async function assertNoQuestion(page: Page, credential: string): Promise<void> {
  const question = await questionOf(page)
  if (!question) return
  const { asks, choices } = question
  throw failed(credential, `the page asks ${asks}${choices.length > 0 ? `: ${choices.join(', ')}` : ''}`, {
    hint: 'answer it, and run "bax login" again if the page then has a form; if only a person can, ask one with "bax handoff"',
  })
}

/** Returns whether a form asks for what was written already. */
const isSame = ({ fields }: Form, filled: readonly CredentialKind[]): boolean =>
  [...fields.keys()].every((part) => filled.includes(part))

async function submit({ submit: send, passkey, fields }: Form, limit: CallLimit): Promise<void> {
  const button = passkey ?? send
  if (button) await button.click(limit)
  else await [...fields.values()].at(-1)!.press('Enter', limit)
}

const fillFirst = 'fill in this field first; if only a person can, ask one with "bax handoff"'

/** Returns the name and the message of a field because of which the browser would not submit a form, such as a captcha. */
async function invalidField({ fields, submit: send, passkey }: Form): Promise<string | undefined> {
  const [field] = fields.values()
  if (!field || passkey) return undefined
  const invalid = await field.evaluate((one, button) => {
    const { form } = one as HTMLInputElement
    if (!form || form.noValidate || (button as HTMLButtonElement | null)?.formNoValidate) return null
    const found = ([...form.elements] as HTMLInputElement[]).find((each) => each.willValidate && !each.validity.valid)
    if (!found) return null
    const names = [found.labels?.[0]?.textContent, found.ariaLabel, found.placeholder, found.name, found.localName]
    const name = names.map((text) => text?.replaceAll(/\s+/g, ' ').trim()).find(Boolean)
    return `${name}: ${found.validationMessage}`.slice(0, 200)
  }, send)
  return invalid ?? undefined
}

interface Waiting {
  readonly end: number
  readonly signal: AbortSignal
  readonly watched: Answers
  readonly usesPasskeys: boolean
  /** On the monotonic clock, in milliseconds; undefined before the first use. */
  passkeyUsedAt: number | undefined
}

/** Returns whether a page without a form since `goneAt` is the one after the log-in. */
function isSettled(goneAt: number, now: number, { usesPasskeys, passkeyUsedAt }: Waiting): boolean {
  if (usesPasskeys && passkeyUsedAt === undefined) return now - goneAt > unusedPasskeyMs
  return now - Math.max(goneAt, passkeyUsedAt ?? 0) > settledMs
}

/** Waits a moment for the message about a failure: scripts of pages add it after the form. */
async function withNotice(page: Page, form: Form, { signal, usesPasskeys }: Waiting): Promise<Form> {
  const end = performance.now() + settledMs
  let latest = form
  while (latest.notice === '' && performance.now() < end) {
    await pause(intervalMs, undefined, { signal })
    latest = (await findForm(page, usesPasskeys)) ?? latest
  }
  return { ...form, notice: latest.notice }
}

/**
 * Waits for the form after another one; undefined once there has been none for a while. The same form counts when its
 * document was replaced, when the page shows a message, or at the end of the time.
 */
async function nextForm(page: Page, before: Form | undefined, waiting: Waiting): Promise<Form | undefined> {
  const { end, signal, watched, usesPasskeys } = waiting
  let goneAt: number | undefined
  for (;;) {
    const form = isNavigating(page) ? undefined : await findForm(page, usesPasskeys)
    const now = performance.now()
    if (form && (!before || isNew(form, before) || now > end)) return form
    if (!form) watched.gone()
    if (form || isNavigating(page) || watched.isPending()) goneAt = undefined
    else goneAt ??= now
    if (before && goneAt !== undefined && isSettled(goneAt, now, waiting)) return undefined
    if (now > end) {
      if (!before) return undefined
      throw new BaxError('timeout', 'the page did not answer the log-in in time')
    }
    await pause(intervalMs, undefined, { signal })
  }
}

const isNew = (form: Form, before: Form): boolean =>
  form.document !== before.document ||
  [...form.fields.keys()].join() !== [...before.fields.keys()].join() ||
  (form.notice !== '' && form.notice !== before.notice)

/** Finds the log-in form of a page, of which one with a password or a code comes first. */
async function findForm(page: Page, usesPasskeys: boolean): Promise<Form | undefined> {
  const forms: Form[] = []
  for (const frame of page.frames()) {
    const form = await formIn(frame, usesPasskeys).catch((error: unknown) => {
      if (isGone(error) || /navigation|detached|context/i.test(String(error))) return undefined
      throw error
    })
    if (form) forms.push(form)
  }
  const isComplete = ({ fields, passkey }: Form) => passkey || fields.has('password') || fields.has('totp')
  return forms.find(isComplete) ?? forms[0]
}

async function formIn(frame: Frame, usesPasskeys: boolean): Promise<Form | undefined> {
  const document = documentIn(frame)
  const found = await frame.evaluateHandle(findLogin)
  const properties = await found.getProperties()
  const fields = new Map<CredentialPart, ElementHandle>()
  for (const [name, part] of Object.entries(partOfField)) {
    const handle = properties.get(name)?.asElement()
    if (handle) fields.set(part, handle)
  }
  const passkey = (usesPasskeys && properties.get('passkey')?.asElement()) || null
  if (fields.size === 0 && !passkey) return undefined
  const notice = String(await properties.get('notice')?.jsonValue())
  return { frame, document, fields, submit: properties.get('submit')?.asElement() ?? null, passkey, notice }
}

type Answers = ReturnType<typeof watchAnswers>

/** Observes the answers to a log-in: the last document of a page, and requests of its scripts since the form was sent. */
function watchAnswers(page: Page) {
  let last = 0
  let refusal = 0
  let phase: 'before' | 'sent' | 'gone' = 'before'
  const pending = new Set<Request>()
  const onRequest = (request: Request) => {
    if (phase === 'before' || !/^(?:fetch|xhr)$/.test(request.resourceType())) return
    // Pages read more once they are logged in, and some keep such a request open.
    if (phase === 'sent' || request.method() !== 'GET') pending.add(request)
  }
  let failure = ''
  const isDocument = (request: Request) => request.isNavigationRequest() && request.frame() === page.mainFrame()
  const onFailed = (request: Request) => {
    pending.delete(request)
    if (isDocument(request)) failure = request.failure()?.errorText ?? ''
  }
  const onResponse = (response: Response) => {
    const request = response.request()
    const status = response.status()
    if (pending.delete(request) && (status === 401 || status === 403)) refusal = status
    if (!isDocument(request)) return
    last = status
    failure = ''
    // The requests of the document before it no longer count.
    pending.clear()
    refusal = 0
  }
  page.on('request', onRequest).on('requestfailed', onFailed).on('response', onResponse)
  return {
    /** Starts with the requests of a form that is about to be sent. */
    begin() {
      phase = 'sent'
      pending.clear()
      refusal = 0
    },
    gone() {
      if (phase === 'sent') phase = 'gone'
    },
    isPending: () => pending.size > 0,
    status: () => last,
    /** Returns why the browser shows an error page; empty if it does not. */
    failure: () => (page.url().startsWith('chrome-error:') ? failure || 'unknown error' : ''),
    /** Returns the status with which a request was refused; 0 without one. */
    refused: () => refusal,
    stop: () => void page.off('request', onRequest).off('requestfailed', onFailed).off('response', onResponse),
  }
}

const rejected = (name: string, { fields, passkey, notice }: Form): BaxError =>
  failed(
    name,
    `the page asks for ${passkey ? 'a passkey' : [...fields.keys()].join(' and ')} again${notice && `: ${notice}`}`,
    {
      hint: `check the values, and change them with "bax credential rotate ${name}"`,
    },
  )

const failed = (credential: string, why: string, extras: { hint?: string } = {}): BaxError =>
  new BaxError('login_failed', `could not log in with ${credential}: ${why}`, { ...extras, details: { credential } })
