/** Notes about what happened during a command beside its result, and hints of errors that depend on what was typed. */
import { mappingOf } from './is-mapping.ts'
import { isIP } from 'node:net'
import { parseUrl } from '../net/parse-url.ts'
import { metadataAddresses, otherServices } from '../net/blocked-targets.ts'
import { isLocalUrl } from '../net/urls.ts'
import type { CommandResult } from '../shapes/commands.ts'
import { fileOrElement } from './file-word.ts'

/** `advice` says how to get a downloaded file. */
export const downloadNotes = ({ downloads = [] }: CommandResult, advice: (name: string) => string): string[] =>
  downloads.map(({ name, state, size, error, saved_by }) => {
    if (state === 'completed' && saved_by === 'user')
      return `the user's browser saved ${name} (${size} bytes) in its own download folder`
    if (state === 'completed') return `downloaded ${name} (${size} bytes)${advice(name)}`
    return state === 'failed' ? `download of ${name} failed: ${error}` : `${name} is still being downloaded`
  })

export const matchesNotes = ({ matches, used_match = 'first visible' }: CommandResult, selector: string): string[] =>
  matches === undefined ? [] : [`${selector} matches ${matches} elements: the ${used_match} one is used`]

export const warningNotes = ({ warning }: CommandResult): string[] => (warning === undefined ? [] : [warning])

type Dialogs = Pick<CommandResult, 'dialogs' | 'dialogs_omitted'>
type Dialog = NonNullable<Dialogs['dialogs']>[number]

const isDefault = ({ answer, answered_by }: Dialog): boolean => answer === 'dismissed' && answered_by === 'setting'

/** Reports that the answer to a dialog is kept, since none was open and no later command has opened one. */
export function keptAnswerNotes(result: CommandResult, all: readonly CommandResult[], accepts?: boolean): string[] {
  const types = result.data?.['kept_for'] as readonly string[] | undefined
  const later = all.filter(({ index }) => index > result.index).flatMap(({ dialogs = [] }) => dialogs)
  if (!types || later.some(({ answered_by }) => answered_by === 'answer_dialog')) return []
  const kinds = `${types.slice(0, -1).join(', ')} or ${types.at(-1)}`
  const answer = accepts === undefined ? 'get this answer' : `be ${accepts ? 'accepted' : 'dismissed'}`
  const before = result.data?.['replaced'] ? '; this replaces the answer given before' : ''
  return [`no dialog is open: the next ${kinds} dialog of this session will ${answer}, once${before}`]
}

/** Returns the selector that a failed command suggests instead of its own. */
export function nearestSelector({ details }: Pick<CommandResult, 'details'>): string | undefined {
  const candidates = details?.['candidates']
  const selector = Array.isArray(candidates) ? mappingOf(candidates[0])['selector'] : undefined
  return typeof selector === 'string' ? selector : undefined
}

/** Returns whether a dialog was dismissed because no command has answered it. */
export const hasDismissed = ({ dialogs = [] }: Dialogs): boolean => dialogs.some(isDefault)

/** Reports dialogs that no command has answered; `advice` says how to accept one. */
export function dialogNotes({ dialogs = [], dialogs_omitted: omitted }: Dialogs, advice?: string): string[] {
  const notes = dialogs
    .filter(({ answer, answered_by }) => answered_by !== 'answer_dialog' && answer !== 'open')
    .map((dialog) => {
      const { type, message, answer } = dialog
      return `${answer} ${type} ${JSON.stringify(message)}${advice && isDefault(dialog) ? `; ${advice}` : ''}`
    })
  return omitted === undefined ? notes : [...notes, `${omitted} more dialogs`]
}

/**
 * Returns why a URL that was typed is blocked, which the error does not say: its port, or a private address, and how a
 * server can be made to open that. Engines without a server open private addresses, and some are always blocked.
 */
export function blockedHint(
  code: string | undefined,
  typed: readonly unknown[],
  server: string | undefined,
): string | undefined {
  if (code !== 'url_blocked') return undefined
  const port = typed.map(portOf).find((one) => otherServices.has(one))
  if (port !== undefined)
    return `browsers block port ${port} (ERR_UNSAFE_PORT), and so do all requests of bax: use another port for the site`
  if (!server) return undefined
  const url = typed.find((text): text is string => typeof text === 'string' && isLocalUrl(text))
  const { hostname = '' } = (url === undefined ? undefined : parseUrl(withHttp(url))) ?? {}
  const host = hostname.replaceAll(/[[\]]/g, '')
  if (host === '' || metadataAddresses.includes(host)) return undefined
  return `private addresses are blocked: start the server with "bax serve --allow-private ${rangeOf(host)}"`
}

/** Returns that the selector and the text of a command have changed places: `fill hello "#q"`. */
export function swappedHint(code: string | undefined, { selector, ...data }: Readonly<Record<string, unknown>>) {
  if (code !== 'element_not_found' || typeof selector !== 'string' || fileOrElement(selector) === 'element')
    return undefined
  const other = Object.values(data).find((text) => typeof text === 'string' && fileOrElement(text) === 'element')
  return other === undefined
    ? undefined
    : `the selector comes first: ${String(other)}, then ${JSON.stringify(selector)}`
}

const withHttp = (text: string): string => (/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`)

/** Returns the port of a text that is a URL, also without a scheme; 0 when it names none. */
function portOf(text: unknown): number {
  const isUrl = typeof text === 'string' && /^(?:https?:\/\/|[\w.-]+:\d+(?:[/?#]|$)|\[[\da-f:]+\]:)/i.test(text)
  return isUrl ? Number(parseUrl(withHttp(text))?.port ?? 0) : 0
}

/** Returns the range of a private address, and that of loopback addresses for a name such as `localhost`. */
function rangeOf(host: string): string {
  if (isIP(host) === 0) return '127.0.0.0/8 --allow-private ::1/128'
  return isIP(host) === 4 ? (host.startsWith('127.') ? '127.0.0.0/8' : `${host}/32`) : `${host}/128`
}
