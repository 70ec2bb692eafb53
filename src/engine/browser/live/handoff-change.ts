/** Changes of the page while a person had control, without the text that the person typed. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { HandoffChange } from '../../../core/access/handoffs.ts'
import { limits } from '../../../core/limits/limits.ts'
import { observationOptions } from '../../../core/shapes/observe.ts'
import type { PageChanges } from '../../../core/shapes/page-changes.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { hiderOf } from '../credentials/session-secrets.ts'
import { changesBetween } from '../observe/changes.ts'
import type { Seen } from '../observe/last-observation.ts'
import { observe } from '../observe/observe.ts'
import { waitUntilStable } from '../observe/wait-until-stable.ts'
import { responseOf } from '../page/hung-script.ts'
import { titleOf } from '../page/internals.ts'
import { hasOpenDialog } from '../page/open-dialogs.ts'
import { toBaxError } from '../page/playwright-errors.ts'
import type { LiveSession } from '../ports/session.ts'
import { privacyOf } from '../privacy/privacy.ts'
import { shownUrl } from '../tabs/page-events.ts'

const baseline = observationOptions.parse({ include: [] })
const { changeChars } = limits.handoffs
/** Roles of fields whose value is a text that a person enters. */
const ofText: ReadonlySet<string> = new Set(['textbox', 'searchbox', 'spinbutton'])

/** Observes the page before a handoff; returns undefined if it cannot be observed, such as a page with an open dialog. */
export async function observeBefore(session: LiveSession, signal: AbortSignal): Promise<Seen | undefined> {
  // A command that waits for an approval may keep the page from answering.
  const deadline = { ms: limits.handoffs.observeMs, value: undefined, signal }
  try {
    return (await withDeadline((inner) => observe(session, baseline, inner), deadline))?.seen
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BaxError) return undefined
    throw error
  }
}

/** Compares the page with the one before the handoff. */
export async function changeSince(
  session: LiveSession,
  before: Seen | undefined,
  signal: AbortSignal,
): Promise<HandoffChange> {
  // The caller waits, and a page that the person has opened may never respond.
  const deadline = { ms: limits.handoffs.observeMs, error: 'it did not respond in time', signal }
  const observing = withDeadline((inner) => observeChange(session, before, inner), deadline)
  const change = await observing.catch((error: unknown) => ({
    changes: null,
    warning: `the page could not be observed: ${toBaxError(error, 'the handoff').message}`,
  }))
  const page = session.activePage
  const title = page ? await withDeadline(titleOf(page), { ms: limits.session.titleMs, value: '' }).catch(() => '') : ''
  const whole = { url: page ? shownUrl(page.url()) : 'about:blank', title, ...change }
  return hiderOf(session.browserContext)(whole)
}

async function observeChange(
  session: LiveSession,
  before: Seen | undefined,
  signal: AbortSignal,
): Promise<Omit<HandoffChange, 'url' | 'title'>> {
  // The person may have finished right after an input that loads the next page.
  await waitUntilStable(session, session.events.lastSeq, limits.observe.settleMs, signal)
  await assertResponsive(session)
  if (!before) return { changes: null, full: 'no_earlier_observation', ...(await newPage(session, signal)) }
  const { seen } = await observe(session, baseline, signal)
  const { changes, full } = changesBetween(session, before, seen, [], changeChars)
  // A text that was typed in pieces, pasted or completed is known only as the value of its field.
  for (const { role, to } of changes.values) if (ofText.has(role)) privacyOf(session.browserContext).typed.addValue(to)
  return {
    changes: withoutValues(changes),
    ...(full && { full }),
    ...(full === 'new_page' && (await newPage(session, signal))),
  }
}

/** @throws BaxError `timeout` for a page whose script never ends, or that waits for a server to load the next one */
async function assertResponsive({ activePage: page }: LiveSession): Promise<void> {
  if (!page || hasOpenDialog(page)) return
  await withDeadline(responseOf(page), { ms: limits.handoffs.responseMs, error: 'it does not respond' })
}

/** Returns the beginning of a page that the caller has not seen. Fields of earlier pages may have values of the person. */
async function newPage(session: LiveSession, signal: AbortSignal): Promise<Pick<HandoffChange, 'snapshot'>> {
  const options = observationOptions.parse({ include: ['snapshot'], max_chars: limits.observe.briefChars })
  return { snapshot: (await observe(session, options, signal)).observation.snapshot! }
}

/** Hides the values of form fields: the person may have entered them. */
const withoutValues = (changes: PageChanges): PageChanges => ({
  ...changes,
  values: changes.values.map((value) => ({ ...value, from: '[redacted]', to: '[redacted]' })),
})
