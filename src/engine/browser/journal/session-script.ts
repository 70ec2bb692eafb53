/** Writes what was done to a session as a script. */
import { catalogue } from '../../../commands/index.ts'
import { makeManifest } from '../../../operations/manifest.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { ScriptFormat, SessionScript } from '../../../core/shapes/recording.ts'
import { sessionInput } from '../../../core/shapes/session.ts'
import { scriptText } from '../../../core/text/script/write-script.ts'
import { hiderOf } from '../credentials/session-secrets.ts'
import type { JournalEntry } from '../ports/journal.ts'
import type { LiveSession } from '../ports/session.ts'
import { hideSteps } from '../script-recorder/hidden-steps.ts'
import { keptEntries, remarkOnPerson } from './kept-entries.ts'
import { type ScriptStep, scriptSteps } from './script-steps.ts'
import { variablesIn } from './template.ts'

export interface ScriptRequest {
  readonly format: ScriptFormat
  readonly from: number
}

/** @throws BaxError `invalid_request` when no command can be repeated. */
export async function sessionScript(session: LiveSession, { format, from }: ScriptRequest): Promise<SessionScript> {
  const { dropped, entries } = session.journal
  const { endsWithPerson, entries: kept, leftOut } = keptEntries(entries.filter(({ number }) => number >= from))
  if (kept.length === 0)
    throw new BaxError('invalid_request', 'no command of the session can be repeated', {
      hint: 'drive the session first, or start with an earlier command (from)',
      details: { left_out: leftOut },
    })
  const hide = hiderOf(session.browserContext)
  // A person may have opened the page that is active now.
  const endUrl = endsWithPerson ? undefined : endUrlOf(session, kept.at(-1)!)
  // URLs are hidden before they become globs, which spell them in another way.
  const shown = kept.map((entry) => ({ ...entry, urlBefore: hide(entry.urlBefore), urlAfter: hide(entry.urlAfter) }))
  const steps = hideSteps(scriptSteps(shown, endUrl && hide(endUrl)), session.browserContext)
  const remark = Math.max(dropped + 1, from) > 1 ? `starts with command ${kept[0]!.number} of the session` : undefined
  const secrets = [...new Set(steps.flatMap(variablesIn))]
  const facts = { session: settingsOf(session), remark, secrets, end: endsWithPerson ? remarkOnPerson : undefined }
  const { script, missing } = await written(session, format, steps, facts)
  return {
    session_id: session.sessionId,
    format,
    script,
    steps: steps.length,
    commands: entries.at(-1)?.number ?? 0,
    secrets,
    left_out: hide([...leftOut, ...missing]),
  }
}

/** Returns the URL that the last command has led to; undefined when something else may have. */
function endUrlOf({ activePage, journal }: LiveSession, last: JournalEntry): string | undefined {
  const action = journal.entries.findLast(({ command }) => {
    const { kind, waits } = catalogue.get(command) ?? {}
    return kind !== 'extraction' && !waits
  })
  const isEnd = last.number >= (action?.number ?? 0) && journal.tabNumber(activePage) === last.tabs[1]
  return isEnd && activePage ? journal.urlOf(activePage) : undefined
}

interface Facts {
  readonly session: Readonly<Record<string, unknown>>
  readonly remark: string | undefined
  readonly end?: string | undefined
  readonly secrets: readonly string[]
}

async function written(session: LiveSession, format: ScriptFormat, steps: readonly ScriptStep[], facts: Facts) {
  if (format === 'yaml') return { script: await scriptText(steps, makeManifest(), facts), missing: [] }
  const { testText } = await import('./playwright/test-text.ts')
  return testText(steps, { page: await session.page(), ...facts })
}

/** Settings of a session that change what pages show. */
const settings = [
  'viewport',
  'locale',
  'timezone',
  'user_agent',
  'dialogs',
  'profile_id',
  'disable_automation_detection',
  'skip_tls_verification',
] as const

/** Returns the settings that differ from those of a new session. */
export function settingsOf({ input }: Pick<LiveSession, 'input'>): Record<string, unknown> {
  const usual = sessionInput.parse({})
  const own = settings.filter((name) => JSON.stringify(input[name]) !== JSON.stringify(usual[name]))
  return Object.fromEntries(own.map((name) => [name, input[name]]))
}
