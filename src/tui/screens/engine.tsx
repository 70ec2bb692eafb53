/** The engine: its browsers, memory use, queues and log. */
import { open } from 'node:fs/promises'
import { Box, Text } from 'ink'
import { useEffect, useState } from 'react'
import type { EngineStatus } from '../../core/shapes/engine.ts'
import { Pager } from '../components/pager.tsx'
import { formatAge, formatSize } from '../format.ts'
import { useAppContext, useTheme } from '../hooks/app-context.ts'
import { useNow, usePolling } from '../hooks/use-polling.ts'
import { plain } from '../../core/text/plain.ts'
import { fit } from '../terminal/plain.ts'
import type { ScreenProps } from '../components/list-page.tsx'

const every = 2000

export function Engine({ width, height }: ScreenProps) {
  const theme = useTheme()
  const { host } = useAppContext()
  const { answer, error } = usePolling('getEngineStatus', {}, { every })
  const log = useLogTail(host.logFile, every)
  const now = useNow(15_000)
  const facts = answer ? factsOf(answer, now) : []
  const browsers = answer?.browsers ?? []
  const top = facts.length + browsers.length + 2
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden">
      {!answer && <Text color={error ? theme.bad : undefined}>{` ${error?.message ?? 'loading …'}`}</Text>}
      {facts.map(([name, value]) => (
        <Text key={name} wrap="truncate">
          <Text dimColor>{` ${fit(name, 10)}`}</Text>
          {plain(value)}
        </Text>
      ))}
      <Text bold dimColor wrap="truncate">{` ${fit('BROWSER', 16)} ${fit('PID', 8)} ${fit('SESSIONS', 9)} WARM`}</Text>
      {browsers.map(({ worker_id, kind, product, pid, sessions, warm }) => (
        <Text key={`${worker_id} ${pid}`} wrap="truncate">
          {` ${fit(kind, 16)} ${fit(String(pid), 8)} ${fit(String(sessions), 9)} ${fit(String(warm), 5)} ${plain(product)}`}
        </Text>
      ))}
      {answer && browsers.length === 0 && <Text dimColor>{' no browser is running'}</Text>}
      <Box marginTop={1}>
        <Pager
          title=" Log"
          text={log ?? (host.logFile === null ? 'The log is on the machine of the server.' : 'no entries yet')}
          width={width}
          height={Math.max(3, height - top - 1 - (browsers.length === 0 ? 1 : 0))}
          follow
        />
      </Box>
    </Box>
  )
}

function factsOf(status: EngineStatus, now: number): [string, string][] {
  const { version, home, pid, started_at, memory_bytes, queues } = status
  const { sessions, shells, execs, crawls, relays, provisions } = status
  const work = `${sessions} sessions, ${shells} shells with ${execs} commands, ${crawls} crawls`
  const starting = `${queues.sessions} sessions for a browser (${provisions} being provisioned)`
  return [
    ['engine', `${version} (${home}), process ${pid}, up for ${formatAge(started_at, now)}`],
    ['address', status.socket ?? 'in this process'],
    ['memory', `${formatSize(memory_bytes)} without its browsers`],
    ['active', `${work}, ${relays} relayed browsers`],
    ['waiting', `${starting}, ${queues.pages} pages, ${queues.commands} batches`],
  ]
}

const tailBytes = 64 * 1024

/** Follows the last lines of a file, checked every `every` milliseconds; null while the file is missing. */
function useLogTail(file: string | null, every: number): string | null {
  const [text, setText] = useState<string | null>(null)
  useEffect(() => {
    if (file === null) return undefined
    let ended = false
    let timer: NodeJS.Timeout | undefined
    let stamp = ''
    const check = async () => {
      try {
        const found = await readTail(file, stamp)
        if (found && !ended) {
          stamp = found.stamp
          setText(found.text)
        }
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        if (!ended) setText(code === 'ENOENT' ? null : `cannot read the log: ${message}`)
      }
      if (!ended) timer = setTimeout(() => void check(), every)
    }
    void check()
    return () => {
      ended = true
      clearTimeout(timer)
    }
  }, [file, every])
  return text
}

/** Returns null when the file has not changed since the stamp. */
async function readTail(file: string, stamp: string): Promise<{ text: string; stamp: string } | null> {
  const handle = await open(file)
  try {
    const { size, mtimeMs, ino } = await handle.stat()
    const now = `${ino} ${size} ${mtimeMs}`
    if (now === stamp) return null
    const from = Math.max(0, size - tailBytes)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from)
    const text = buffer.toString('utf8', 0, bytesRead)
    // The first line is probably incomplete.
    return { text: from > 0 ? text.slice(text.indexOf('\n') + 1) : text, stamp: now }
  } finally {
    await handle.close()
  }
}
