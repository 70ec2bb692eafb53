/** Crawls at work and those that are kept. */
import { Box, Text } from 'ink'
import { useState } from 'react'
import type { CrawlListed } from '../../core/shapes/crawl.ts'
import { Confirm } from '../components/confirm.tsx'
import { Prompt } from '../components/prompt.tsx'
import { type Column, Table } from '../components/table.tsx'
import { since, span } from '../format.ts'
import { useHouse, useTheme } from '../hooks/house.ts'
import { useAsk } from '../hooks/use-ask.ts'
import { useAttempt } from '../hooks/use-attempt.ts'
import { useKeys } from '../hooks/use-keys.ts'
import { useNow } from '../hooks/use-now.ts'
import type { Theme } from '../theme.ts'
import { CrawlView } from './crawl.tsx'
import type { ScreenProps } from './screen-props.ts'

const every = 1500

type Asking = { readonly what: 'crawl' } | { readonly what: 'cancel'; readonly crawl: CrawlListed }

export function Jobs(props: ScreenProps) {
  const [open, setOpen] = useState<CrawlListed | null>(null)
  if (open) return <CrawlView {...props} crawl={open} onClose={() => setOpen(null)} />
  return <JobList {...props} onOpen={setOpen} />
}

function JobList({ width, height, onOpen }: ScreenProps & { readonly onOpen: (crawl: CrawlListed) => void }) {
  const theme = useTheme()
  const { answer, error, again } = useAsk('listCrawls', {}, { every })
  const [asking, setAsking] = useState<Asking | null>(null)
  const now = useNow(15_000)
  const { begin, cancel, resume } = useCrawls(again)
  useKeys('screen', {
    title: 'Jobs',
    bindings: [{ keys: ['c'], does: 'crawl a site', run: () => setAsking({ what: 'crawl' }) }],
  })
  const done =
    <Args extends unknown[]>(work: (...args: Args) => void) =>
    (...args: Args) => {
      setAsking(null)
      work(...args)
    }
  const running = answer?.crawls.filter(({ status }) => status === 'scraping').length ?? 0
  return (
    <Box flexDirection="column" width={width} height={height}>
      {asking?.what === 'crawl' && (
        <Prompt
          label=" crawl from (address, pages at most): "
          width={width}
          onSubmit={done(begin)}
          onCancel={() => setAsking(null)}
        />
      )}
      {asking?.what === 'cancel' && (
        <Confirm
          question={` Cancel the crawl of ${asking.crawl.start_url}? What it has found stays.`}
          onYes={done(() => cancel(asking.crawl))}
          onNo={() => setAsking(null)}
        />
      )}
      {!asking && (
        <Text bold wrap="truncate" color={error && !answer ? theme.bad : undefined}>
          {error && !answer ? ` ${error.message}` : ` ${answer?.total ?? 0} crawls, ${running} at work`}
        </Text>
      )}
      <Table
        title="Crawls"
        rows={answer?.crawls ?? []}
        keyOf={({ id }) => id}
        columns={columnsOf(theme, now)}
        width={width}
        height={height - 1}
        empty={answer ? 'no crawls in the last day: c begins one' : 'asking …'}
        onOpen={onOpen}
        actions={[
          { keys: ['x'], does: 'cancel', run: (crawl) => setAsking({ what: 'cancel', crawl }) },
          { keys: ['r'], does: 'go on with it', run: resume },
        ]}
      />
    </Box>
  )
}

/** What changes crawls. */
function useCrawls(again: () => void) {
  const { link, say } = useHouse()
  const attempt = useAttempt(again)
  return {
    begin: (text: string) =>
      attempt(async () => {
        const [url = '', limit] = text.trim().split(/\s+/)
        if (url === '') return
        await link.ask('crawl', { url, async: true, ...(limit !== undefined && { limit: Number(limit) }) })
        say(`crawling ${url}`, 'good')
      }),
    cancel: ({ id }: CrawlListed) => attempt(async () => void (await link.ask('cancelCrawl', { id }))),
    resume: ({ id }: CrawlListed) => attempt(async () => void (await link.ask('resumeCrawl', { id }))),
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
    { head: 'TOOK', of: ({ duration_ms }) => span(duration_ms), width: 5, side: 'right' },
    { head: 'AGE', of: ({ created_at }) => since(created_at, now), width: 4, side: 'right' },
    { head: 'SITE', of: ({ start_url, error }) => (error ? `${start_url} — ${error}` : start_url) },
  ]
}
