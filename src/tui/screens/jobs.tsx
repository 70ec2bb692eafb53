/** The list of running and stored crawls, and the view of one of them. */
import type { CrawlListed } from '../../core/shapes/crawl.ts'
import { Confirm } from '../components/confirm.tsx'
import { ListPage, listScreen, useDialog } from '../components/list-page.tsx'
import { Prompt } from '../components/prompt.tsx'
import type { Column } from '../components/table.tsx'
import { formatAge, formatDuration } from '../format.ts'
import { useAttempt, useAppContext, useKeys, useTheme } from '../hooks/app-context.ts'
import { usePolling } from '../hooks/use-polling.ts'
import { useNow } from '../hooks/use-now.ts'
import type { Theme } from '../theme.ts'
import { CrawlView } from './crawl.tsx'
import type { ListProps } from './screen-props.ts'

const every = 1500

export const Jobs = listScreen(JobList, CrawlView)

function JobList({ width, height, onOpen }: ListProps<CrawlListed>) {
  const theme = useTheme()
  const list = usePolling('listCrawls', {}, { every })
  const { dialog, open, close, closing } = useDialog<'start' | CrawlListed>()
  const now = useNow(15_000)
  const { start, cancel, resume } = useCrawlActions(list.refresh)
  useKeys('screen', {
    title: 'Jobs',
    bindings: [{ keys: ['c'], label: 'crawl a site', run: () => open('start') }],
  })
  const running = list.answer?.crawls.filter(({ status }) => status === 'scraping').length ?? 0
  return (
    <ListPage
      title="Crawls"
      list={list}
      summary={`${list.answer?.total ?? 0} crawls, ${running} running`}
      dialog={
        dialog === 'start' ? (
          <Prompt label=" crawl from (URL, page limit): " width={width} onSubmit={closing(start)} onCancel={close} />
        ) : (
          dialog && (
            <Confirm
              question={` Cancel the crawl of ${dialog.start_url}? Its pages are kept.`}
              onYes={closing(() => cancel(dialog))}
              onNo={close}
            />
          )
        )
      }
      rows={list.answer?.crawls ?? []}
      keyOf={({ id }) => id}
      columns={columnsOf(theme, now)}
      width={width}
      height={height}
      empty="no crawls in the last day; press c to start one"
      onOpen={onOpen}
      actions={[
        { keys: ['x'], label: 'cancel', run: open },
        { keys: ['r'], label: 'resume', run: resume },
      ]}
    />
  )
}

function useCrawlActions(refresh: () => void) {
  const { link, notify } = useAppContext()
  const attempt = useAttempt(refresh)
  return {
    start: (text: string) =>
      attempt(async () => {
        const [url = '', limit] = text.trim().split(/\s+/)
        if (url === '') return
        await link.call('crawl', { url, async: true, ...(limit !== undefined && { limit: Number(limit) }) })
        notify(`crawling ${url}`, 'good')
      }),
    cancel: ({ id }: CrawlListed) => attempt(async () => void (await link.call('cancelCrawl', { id }))),
    resume: ({ id }: CrawlListed) => attempt(async () => void (await link.call('resumeCrawl', { id }))),
  }
}

function columnsOf(theme: Theme, now: number): Column<CrawlListed>[] {
  const colours: Record<CrawlListed['status'], string | undefined> = {
    scraping: theme.notable,
    completed: theme.good,
    failed: theme.bad,
    cancelled: undefined,
  }
  return [
    { head: 'STATE', of: ({ status }) => status, width: 10, colour: ({ status }) => colours[status] },
    { head: 'PAGES', of: ({ completed, total }) => `${completed}/${total}`, width: 11, side: 'right' },
    {
      head: 'ERRORS',
      of: ({ errors }) => String(errors),
      width: 6,
      side: 'right',
      colour: ({ errors }) => (errors > 0 ? theme.bad : undefined),
    },
    { head: 'TOOK', of: ({ duration_ms }) => formatDuration(duration_ms), width: 5, side: 'right' },
    { head: 'AGE', of: ({ created_at }) => formatAge(created_at, now), width: 4, side: 'right' },
    { head: 'SITE', of: ({ start_url, error }) => (error ? `${start_url} — ${error}` : start_url) },
  ]
}
