/** The workers behind a gateway with what waits for them, and the view of one worker. */
import { Box, Text } from 'ink'
import type { FleetStatus, FleetWorker } from '../../core/shapes/fleet/status.ts'
import { formatCell } from '../../core/text/cell.ts'
import { ListPage, type ListProps, listScreen, type ViewProps } from '../components/list-page.tsx'
import { Pager } from '../components/pager.tsx'
import type { Column } from '../components/table.tsx'
import { formatDuration, formatSize } from '../format.ts'
import { useAttempt, useAppContext } from '../hooks/app-context.ts'
import { usePolling } from '../hooks/use-polling.ts'
import { plain } from '../../core/text/plain.ts'
import { fit } from '../terminal/plain.ts'
import type { Theme } from '../theme.ts'

const every = 2000

/** Provisions that are listed at most, so that the workers stay visible. */
const mostProvisions = 5

export const Fleet = listScreen(WorkerList, WorkerView)

function WorkerList({ width, height, onOpen }: ListProps<string>) {
  const { link, notify, theme } = useAppContext()
  const list = usePolling('getFleet', {}, { every })
  const attempt = useAttempt(list.refresh)
  const rows = list.answer?.workers ?? []
  const below = list.answer ? linesBelow(list.answer, width) : []
  const drain = (worker: FleetWorker) =>
    attempt(async () => {
      await link.call('drainWorker', { worker_id: worker.worker_id })
      notify(`worker ${nameOf(worker)} gets no new work`, 'good')
    })
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden">
      <ListPage
        title="Workers"
        list={list}
        summary={list.answer ? summaryOf(list.answer) : 'Workers'}
        rows={rows}
        keyOf={({ worker_id }) => worker_id}
        columns={columnsOf(theme, width)}
        width={width}
        height={Math.max(4, height - below.length)}
        empty="no workers; start one with `bax worker`"
        onOpen={({ worker_id }) => onOpen(worker_id)}
        ending={{
          label: 'drain',
          question: (worker) => ` Drain ${nameOf(worker)}? It gets no new work; this cannot be undone.`,
          run: drain,
        }}
      />
      {below.map(({ text, as }, at) => (
        <Text
          key={at}
          wrap="truncate"
          bold={as === 'head'}
          dimColor={as === 'head'}
          color={as && as !== 'head' ? theme[as] : undefined}
        >
          {text || ' '}
        </Text>
      ))}
    </Box>
  )
}

const nameOf = ({ name, worker_id }: FleetWorker): string => name ?? worker_id

function summaryOf({ workers, scaler }: FleetStatus): string {
  const draining = workers.filter(({ state }) => state === 'draining').length
  const count = `${workers.length} worker${workers.length === 1 ? '' : 's'}${draining > 0 ? `, ${draining} draining` : ''}`
  const wanted = scaler.workers === null ? '' : `, ${scaler.workers} wanted`
  return `${count}; scaler: ${plain(scaler.scaler)}${wanted}, ${scaler.needed} needed`
}

interface Line {
  readonly text: string
  readonly as?: 'head' | 'bad' | 'notable'
}

/** Queues, provisions and problems, below the workers. */
function linesBelow({ workers, queues, provisions, scaler, warning }: FleetStatus, width: number): Line[] {
  const row = (first: string, ...counts: readonly unknown[]) =>
    ` ${fit(first, 24)}${counts.map((count) => fit(String(count), 9, 'right')).join('')}`
  const age = (secs: number | null) => (secs === null ? '-' : formatDuration(secs * 1000))
  const more = provisions.length - mostProvisions
  return [
    { text: '' },
    { text: row('QUEUE', 'WAITING', 'ACTIVE', 'DELAYED', 'FAILED', 'OLDEST'), as: 'head' },
    ...queues.map(({ queue, waiting, active, delayed, failed, oldest_secs: oldest }) => ({
      text: row(plain(queue), waiting, active, delayed, failed, age(oldest)),
    })),
    ...(provisions.length > 0
      ? [{ text: ` ${fit('PROVISION', 24)} ${fit('STAGE', 13)} AGE`, as: 'head' as const }]
      : []),
    ...provisions.slice(0, mostProvisions).map(({ provision_id, stage, age_secs }) => ({
      text: ` ${fit(provision_id, 24)} ${fit(stage, 13)} ${age(age_secs)}`,
    })),
    ...(more > 0 ? [{ text: ` … and ${more} more` }] : []),
    ...workers.flatMap((worker) =>
      worker.problem === null
        ? []
        : [{ text: ` ${fit(plain(`${nameOf(worker)}: ${worker.problem}`), width - 2)}`, as: 'notable' as const }],
    ),
    ...(scaler.message === null ? [] : [{ text: ` scaler: ${plain(scaler.message)}`, as: 'bad' as const }]),
    ...(warning === undefined ? [] : [{ text: ` ${fit(plain(warning), width - 2)}`, as: 'notable' as const }]),
  ]
}

function columnsOf(theme: Theme, width: number): Column<FleetWorker>[] {
  const share = (head: string, kind: 'sessions' | 'shells' | 'relays' | 'pages'): Column<FleetWorker> => ({
    head,
    of: (worker) => formatCell(worker[kind]),
    width: 8,
    side: 'right',
    colour: ({ [kind]: { used, total } }) => (total > 0 && used >= total ? theme.notable : undefined),
  })
  return [
    { head: 'WORKER', of: nameOf },
    {
      head: 'STATE',
      of: ({ state, unreachable }) => (unreachable === null ? state : 'unreachable'),
      width: 11,
      colour: ({ state, unreachable }) => {
        if (unreachable !== null) return theme.bad
        return state === 'ready' ? theme.good : theme.notable
      },
    },
    share('SESSIONS', 'sessions'),
    share('SHELLS', 'shells'),
    share('RELAYS', 'relays'),
    share('PAGES', 'pages'),
    { head: 'BEAT', of: ({ heartbeat_ms: ms }) => formatDuration(ms), width: 4, side: 'right' },
    // The view of a worker has them where the terminal is narrow.
    ...(width < 110
      ? []
      : [
          { head: 'BUILD', of: ({ build }: FleetWorker) => build.slice(0, 12), width: 12 },
          { head: 'LABELS', of: ({ labels }: FleetWorker) => formatCell(labels), width: 29 },
        ]),
  ]
}

/** All facts of one worker. */
function WorkerView({ width, height, item: id, onClose }: ViewProps<string>) {
  const { answer, error } = usePolling('getFleet', {}, { every })
  const worker = answer?.workers.find(({ worker_id }) => worker_id === id)
  const gone = answer ? 'the worker has ended, or lost its lease' : 'loading …'
  const text = error?.message ?? (worker ? factsOf(worker).join('\n') : gone)
  return <Pager title={` Worker ${id}`} text={text} width={width} height={height} onClose={onClose} />
}

const factsOf = (worker: FleetWorker): string[] =>
  Object.entries({ ...worker, memory_bytes: formatSize(worker.memory_bytes) }).map(
    ([name, value]) => ` ${fit(name, 14)}${formatCell(value)}`,
  )
