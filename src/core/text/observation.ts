/** Observations as text, for humans and language models. The text of an unchanged page is always the same. */
import type { Observation } from '../shapes/observe.ts'

/**
 * Formats an observation: a few lines about the page, then its snapshot and the other requested parts. `flags` spells
 * the fields that show more as flags of the command line.
 */
export function observationText(observation: Observation, flags = true): string {
  const { scroll, snapshot, text, tabs = [] } = observation
  const head = [
    `url: ${observation.url}`,
    `title: ${observation.title}`,
    ...(observation.ready_state === 'complete' ? [] : [`state: ${observation.ready_state}`]),
    ...(scroll.max_y > 0 ? [`scroll: ${scroll.y} of ${scroll.max_y}`] : []),
    ...(observation.hidden_texts ? [`hidden: ${observation.hidden_texts}, texts that people cannot see`] : []),
    ...toolsLine(observation.page_tools),
    ...(tabs.length > 1 ? tabs.map((tab) => `${tab.tab_id}: ${tab.url}${tab.active ? ' (active)' : ''}`) : []),
    ...observation.dialogs.map(({ type, message, open, accepted }) => {
      return `dialog: ${type} ${JSON.stringify(message)} ${open ? 'open' : accepted ? 'accepted' : 'dismissed'}`
    }),
  ].join('\n')
  // A snapshot already contains the elements.
  const elements = snapshot === undefined ? observation.elements?.map(elementLine).join('\n') : undefined
  const shown = !flags
    ? snapshot
    : snapshot?.replaceAll(
        /^# (.* omitted); use (max_chars or )?selector$/gm,
        (_, what: string, both?: string) => `${what}; use ${both ? '--max-chars or ' : ''}--selector`,
      )
  const unlisted =
    observation.omitted.elements && snapshot === undefined
      ? `${observation.omitted.elements} elements omitted; use --limit`
      : undefined
  const parts = [
    head,
    shown,
    elements,
    unlisted,
    text,
    consoleText(observation),
    networkText(observation),
    storageText(observation),
  ]
  return parts.filter((part) => part !== undefined && part !== '').join('\n\n')
}

/** Names the tools that the page offers. */
export function toolsLine(tools: Observation['page_tools']): string[] {
  if (!tools) return []
  const more = tools.total - tools.names.length
  const all = [...tools.names, ...(more > 0 ? [`${more} more`] : [])].join(', ')
  return [all === '' ? 'tools of the page: none any more' : `tools of the page: ${all} (webmcp list)`]
}

const elementLine = ({ ref, role, name, selector, value }: NonNullable<Observation['elements']>[number]): string =>
  `${ref} ${role} ${JSON.stringify(name)}${value ? ` = ${JSON.stringify(value)}` : ''} ${selector}`

const consoleText = ({ console }: Observation): string | undefined =>
  console?.map(({ level, text, url, line }) => `console ${level}: ${text}${url ? ` (${url}:${line})` : ''}`).join('\n')

const networkText = ({ network }: Observation): string | undefined =>
  network?.map(({ method, url, status, error }) => `${error ?? status ?? 'pending'} ${method} ${url}`).join('\n')

function storageText({ storage }: Observation): string | undefined {
  if (!storage) return undefined
  return [
    ...storage.cookies.map(({ name, value, domain }) => `cookie ${name}=${value} (${domain})`),
    ...area('local', storage.local_storage),
    ...area('session', storage.session_storage),
  ].join('\n')
}

const area = (name: string, entries: Record<string, string> | null): string[] =>
  Object.entries(entries ?? {}).map(([key, value]) => `${name} ${key}=${value}`)
