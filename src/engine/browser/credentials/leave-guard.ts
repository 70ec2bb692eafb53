/** Keeps passwords from navigations to other origins: forms whose action changes, and redirects that repeat a body. */
import type { Frame, Page } from 'playwright'
import type { EventLog } from '../../../core/events/events.ts'
import { makeMask, type Mask } from '../../../core/access/mask.ts'
import { cdpSessionOf } from '../page/hung-script.ts'
import { isGone } from '../page/playwright-errors.ts'
import { shownUrl } from '../tabs/page-events.ts'

interface Guarded {
  readonly password: string
  /** Finds the password. */
  readonly mask: Mask
  /** Origins that may get it: those of all credentials that have it. */
  readonly origins: Set<string>
}

/** Passwords written into a page, or into a frame with its own process. */
const guarded = new WeakMap<Page | Frame, Guarded[]>()

/**
 * From now on, blocks navigations of a page that carry a password to other origins than those of its credentials. The
 * browser asks about each navigation and each of its redirects, which routes of Playwright do not see.
 */
export async function guardNavigations(
  frame: Frame,
  password: string,
  origins: readonly string[],
  events: EventLog,
): Promise<void> {
  const page = frame.page()
  const mask = makeMask([password])
  const targets: (Page | Frame)[] = [page]
  // A form may also navigate the frames around its own one, whose sessions report that.
  for (let one: Frame | null = frame; one?.parentFrame(); one = one.parentFrame())
    if (await hasSession(one)) targets.push(one)
  for (const target of targets) {
    const known = guarded.get(target)
    const same = known?.find((one) => one.password === password)
    if (same) for (const origin of origins) same.origins.add(origin)
    else {
      const added = { password, mask, origins: new Set(origins) }
      if (known) known.push(added)
      else await guard(target, [added], events)
    }
  }
}

/** Returns whether a frame has an own protocol session; others share that of a frame around them, or of the page. */
async function hasSession(frame: Frame): Promise<boolean> {
  try {
    await cdpSessionOf(frame)
    return true
  } catch (error) {
    if (/does not have a separate CDP session/.test(String(error))) return false
    throw error
  }
}

async function guard(target: Page | Frame, all: Guarded[], events: EventLog): Promise<void> {
  const session = await cdpSessionOf(target)
  guarded.set(target, all)
  session.once('close', () => guarded.delete(target))
  session.on('Fetch.requestPaused', ({ requestId, request: { url, postData, postDataEntries } }) => {
    const body = postDataEntries?.map(({ bytes = '' }) => Buffer.from(bytes, 'base64').toString('latin1')).join('')
    const { origin } = new URL(url)
    const sent = [url, postData ?? '', body ?? '']
    const isLeak = all.some(
      ({ mask, origins }) => !origins.has(origin) && sent.some((text) => mask.text(text) !== text),
    )
    if (isLeak) events.emit('credential.blocked', { url: shownUrl(url) })
    const answer = isLeak
      ? session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' })
      : session.send('Fetch.continueRequest', { requestId })
    answer.catch((error: unknown) => {
      // The navigation was replaced by another one.
      if (!isGone(error) && !/Invalid InterceptionId/i.test(String(error))) throw error
    })
  })
  await session.send('Fetch.enable', { patterns: [{ resourceType: 'Document' }] })
}
