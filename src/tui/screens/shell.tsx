/** The list of shell sessions, and the view of one of them. */
import type { ShellSession } from '../../core/shapes/shell/session.ts'
import { ListPage, type ListProps, listScreen } from '../components/list-page.tsx'
import type { Column } from '../components/table.tsx'
import { formatAge } from '../format.ts'
import { useAttempt, useAppContext } from '../hooks/app-context.ts'
import { useNow, usePolling } from '../hooks/use-polling.ts'
import type { Theme } from '../theme.ts'
import { ShellView } from './shell-view.tsx'

export const Shell = listScreen(ShellList, ShellView)

function ShellList({ width, height, onOpen }: ListProps<string>) {
  const { link, notify, theme } = useAppContext()
  const list = usePolling('listShells', {}, { every: 2000 })
  const attempt = useAttempt(list.refresh)
  const rows = list.answer?.sessions ?? []
  const now = useNow(15_000)
  const create = (image: string) =>
    attempt(async () => {
      notify('creating a shell session …')
      const { id } = await link.call('createShell', image.trim() === '' ? {} : { image: image.trim() })
      notify(`shell session ${id} is ready`, 'good')
    })
  const stop = ({ id }: ShellSession) =>
    attempt(async () => {
      await link.call('deleteShell', { session_id: id })
      notify(`shell session ${id} is stopped; its artifacts are kept`, 'good')
    })
  return (
    <ListPage
      title="List"
      list={list}
      summary={`${rows.length} shell session${rows.length === 1 ? '' : 's'}`}
      rows={rows}
      keyOf={({ id }) => id}
      columns={columnsOf(theme, now)}
      width={width}
      height={height}
      empty="no shell sessions; press c to create one"
      onOpen={({ id }) => onOpen(id)}
      keys={{
        title: 'Shell sessions',
        prompts: [{ key: 'c', label: 'create', prompt: ' image (optional): ', onSubmit: create }],
      }}
      ending={{ label: 'stop', question: ({ name, id }) => ` Stop ${name ?? id}?`, run: stop }}
    />
  )
}

const columnsOf = (theme: Theme, now: number): Column<ShellSession>[] => [
  { head: 'SESSION', of: ({ name, id }) => name ?? id, width: 24 },
  {
    head: 'STATE',
    of: ({ status }) => status,
    width: 9,
    colour: ({ status }) => (status === 'ready' ? theme.good : theme.notable),
  },
  { head: 'AGE', of: ({ created_at }) => formatAge(created_at, now), width: 4, side: 'right' },
  { head: 'IDLE', of: ({ last_active_at }) => formatAge(last_active_at, now), width: 4, side: 'right' },
  { head: 'RUNS', of: ({ running_execs, exec_count }) => `${running_execs}/${exec_count}`, width: 6, side: 'right' },
  { head: 'FILES', of: ({ artifact_count }) => String(artifact_count), width: 5, side: 'right' },
  { head: 'IMAGE', of: ({ image, network }) => `${image}, network ${network}` },
]
