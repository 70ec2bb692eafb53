/** Runs commands in a shell session, one after the other, and streams their output. */
import { useEffect, useRef, useState } from 'react'
import type { FrameOf } from '../../client/calls.ts'
import { asBaxError } from '../../core/errors/errors.ts'
import { useAppContext } from './app-context.ts'

const maxChars = 200_000
const updateMs = 100

export function useExec(session_id: string, onDone: () => void) {
  const { link } = useAppContext()
  const [text, setText] = useState('')
  const [isRunning, setRunning] = useState(false)
  const current = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => current.current?.abort(), [])
  const run = async (command: string) => {
    const ended = new AbortController()
    current.current = ended
    let held = `$ ${command}\n`
    const flush = () => {
      const added = held
      held = ''
      if (added) setText((before) => (before + added).slice(-maxChars))
    }
    const timer = setInterval(flush, updateMs)
    setRunning(true)
    try {
      const frames = await link.follow('shellExecStream', { session_id, command, encoding: 'utf8' }, ended.signal)
      for await (const frame of frames ?? []) held += textOf(frame)
    } catch (error) {
      link.handleError(error)
      held += ended.signal.aborted ? '^C\n' : `${asBaxError(error).message}\n`
    }
    clearInterval(timer)
    flush()
    setRunning(false)
    onDone()
  }
  return { text, isRunning, run: (command: string) => void run(command), stop: () => current.current?.abort() }
}

/** Returns the text that a frame adds to the output. */
function textOf(frame: FrameOf<'shellExecStream'>): string {
  switch (frame.type) {
    case 'stdout':
    case 'stderr':
      return frame.data
    case 'artifact':
      return `[${frame.files} files saved as ${frame.artifact_id}]\n`
    case 'exit': {
      const code = frame.exit_code
      return code === 0 ? '' : `[exit code ${code}${frame.timed_out ? ', timed out' : ''}]\n`
    }
    case 'error':
      return `${frame.message}\n`
    default:
      return ''
  }
}
