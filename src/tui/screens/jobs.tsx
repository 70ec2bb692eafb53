/** The list of running and stored crawls, and the view of one of them. */
import type { CrawlListed } from '../../core/shapes/crawl.ts'
import { ListPage, type ListProps, listScreen } from '../components/list-page.tsx'
import type { Column } from '../components/table.tsx'
import { formatAge, formatDuration } from '../format.ts'
import { useAttempt, useAppContext } from '../hooks/app-context.ts'
import { useNow, usePolling } from '../hooks/use-polling.ts'
import type { Theme } from '../theme.ts'
import { CrawlView } from './crawl.tsx'

export const Jobs = listScreen(JobList, CrawlView)

function JobList({ width, height, onOpen }: ListProps<CrawlListed>) {
  const { link, notify, theme } = useAppContext()
  const list = usePolling('listCrawls', {}, { every: 1500 })
  const attempt = useAttempt(list.refresh)
  const now = useNow(15_000)
  const start = (text: string) =>
    attempt(async () => {
      const [url = '', limit] = text.trim().split(/\s+/)
      if (url === '') return
      await link.call('crawl', { url, async: true, ...(limit !== undefined && { limit: Number(limit) }) })
      notify(`crawling ${url}`, 'good')
    })
  const change =
    (operation: 'cancelCrawl' | 'resumeCrawl') =>
    ({ id }: CrawlListed) =>
      attempt(async () => void (await link.call(operation, { id })))
  const running = list.answer?.crawls.filter(({ status }) => status === 'scraping').length ?? 0
  return (
    <ListPage
      title="Crawls"
      list={list}
      summary={`${list.answer?.total ?? 0} crawls, ${running} running`}
      rows={list.answer?.crawls ?? []}
      keyOf={({ id }) => id}
      columns={columnsOf(theme, now)}
      width={width}
      height={height}
      empty="no crawls in the last day; press c to start one"
      onOpen={onOpen}
      keys={{
        title: 'Jobs',
        prompts: [{ key: 'c', label: 'crawl a site', prompt: ' crawl from (URL, page limit): ', onSubmit: start }],
      }}
      ending={{
        label: 'cancel',
        question: ({ start_url }) => ` Cancel the crawl of ${start_url}? Its pages are kept.`,
        run: change('cancelCrawl'),
      }}
      actions={[{ keys: ['r'], label: 'resume', run: change('resumeCrawl') }]}
    />
  )
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
