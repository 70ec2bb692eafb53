/** Closes sessions, after the last input has taken effect. */
import { catalogue } from '../../../commands/index.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { waitUntilStable } from '../observe/wait-until-stable.ts'
import { isLive, type KnownSession } from './registry.ts'

export async function closeSession(session: KnownSession, signal: AbortSignal): Promise<void> {
  if (isLive(session)) await finishInput(session, signal)
  await session.end('deleted')
}

/**
 * Waits until the page has sent what a recent input has caused: the command succeeds before a click handler sends the
 * order, and a page that is closed sends nothing any more. Ends `limits.session.inputMs` after the input, and at once
 * while a command runs.
 */
export async function finishInput(target: BatchTarget, signal: AbortSignal = target.ended): Promise<void> {
  const commands = target.events.since(0).filter(({ type }) => type.startsWith('command.'))
  const isRunning = commands.at(-1)?.type === 'command.started'
  const [started, finished] = commands.filter(({ data }) => isInput(data['command'])).slice(-2)
  if (!started || !finished || isRunning || !target.activePage || target.crashed) return
  const leftMs = Date.parse(finished.ts) + limits.session.inputMs - Date.now()
  if (leftMs <= 0) return
  // Handlers often wait for further input before they send something.
  const { inputQuietMs: quietMs } = limits.session
  // A page that crashes meanwhile sends nothing more.
  await waitUntilStable(target, started.seq, leftMs, signal, { unchangedMs: quietMs, quietMs }).catch(() => {})
}

const isInput = (command: unknown): boolean => catalogue.get(String(command))?.input !== undefined
