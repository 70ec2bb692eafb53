/** Observations as text, for people and for language models: nothing in it changes while the page does not. */
import { existsSync, writeFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'
import type { Observation } from '../../core/shapes/observe.ts'
import type { Io } from '../io.ts'

/** The page in a few lines, then its snapshot and what else was asked for. */
export function observationText(seen: Observation): string {
  const { scroll, snapshot, text, tabs = [] } = seen
  const head = [
    `url: ${seen.url}`,
    `title: ${seen.title}`,
    ...(seen.ready_state === 'complete' ? [] : [`state: ${seen.ready_state}`]),
    ...(scroll.max_y > 0 ? [`scroll: ${scroll.y} of ${scroll.max_y}`] : []),
    ...(tabs.length > 1 ? tabs.map((tab) => `${tab.tab_id}: ${tab.url}${tab.active ? ' (active)' : ''}`) : []),
    ...seen.dialogs.map(({ kind, message, open, accepted }) => {
      return `dialog: ${kind} ${JSON.stringify(message)} ${open ? 'open' : accepted ? 'accepted' : 'dismissed'}`
    }),
  ].join('\n')
  // The snapshot names the elements already; without it the list is all there is.
  const elements = snapshot === undefined ? seen.elements?.map(elementLine).join('\n') : undefined
  const shown = snapshot?.replace(/^# (.* omitted); use max_chars or selector$/m, '$1; use --max-chars or --selector')
  const unlisted = seen.omitted.elements && snapshot === undefined ? `${seen.omitted.elements} elements omitted; use --limit` : undefined // prettier-ignore
  const parts = [head, shown, elements, unlisted, text, consoleText(seen), networkText(seen), storageText(seen)]
  return parts.filter((part) => part !== undefined && part !== '').join('\n\n')
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

/** Writes a screenshot to the named file, or to a fresh one in the working folder; returns its path as one would type it. */
export function writePicture(io: Io, base64: string, file: string | undefined, now: Date): string {
  const path = resolve(io.cwd, file ?? freeName(io.cwd, now))
  try {
    writeFileSync(path, Buffer.from(base64, 'base64'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new BaxError(code === 'ENOSPC' ? 'no_space' : 'invalid_request', `cannot write ${path}: ${code}`, {
      cause: error,
    })
  }
  return relative(io.cwd, path)
}

function freeName(folder: string, now: Date): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  for (let count = 1; ; count += 1) {
    const name = `screenshot-${stamp}${count > 1 ? `-${count}` : ''}.png`
    if (!existsSync(resolve(folder, name))) return name
  }
}
