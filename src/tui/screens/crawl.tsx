/** The view of one crawl: its progress, and its pages as a tree. */
import { Box, Text } from 'ink'
import { ProgressBar } from '@inkjs/ui'
import { useMemo, useState } from 'react'
import type { CrawlListed } from '../../core/shapes/crawl.ts'
import { Pager } from '../components/pager.tsx'
import { type Column, Table } from '../components/table.tsx'
import { type CrawlPage, noPages, positionOf, treeOf, type TreeRow, withEvents } from '../crawl-pages.ts'
import { useAttempt, useAppContext, useKeys, useTheme } from '../hooks/app-context.ts'
import { useFrames } from '../hooks/use-frames.ts'
import { plain } from '../../core/text/plain.ts'
import { cut } from '../terminal/plain.ts'
import type { Theme } from '../theme.ts'
import type { ViewProps } from '../components/list-page.tsx'

const marks: Record<CrawlPage['state'], string> = { waiting: '·', done: '✓', error: '✗', skipped: '–' }

export function CrawlView({ width, height, item: crawl, onClose }: ViewProps<CrawlListed>) {
  const { link } = useAppContext()
  const theme = useTheme()
  const [state, setState] = useState(noPages)
  const [onlyErrors, setOnlyErrors] = useState(false)
  const [reading, setReading] = useState<{ title: string; text: string } | null>(null)
  const attempt = useAttempt()
  useFrames({
    stream: 'crawlEvents',
    input: { id: crawl.id },
    since: 0,
    batchMs: 250,
    onFrames: (frames) => setState((before) => withEvents(before, frames)),
  })
  const rows = useMemo(() => {
    const pages = [...state.pages.values()]
    return treeOf(onlyErrors ? pages.filter((page) => page.state === 'error') : pages)
  }, [state.pages, onlyErrors])
  const open = ({ page }: TreeRow) => {
    if (page?.problem) setReading({ title: page.url, text: page.problem })
    if (page?.state !== 'done') return
    void attempt(async () => {
      const skip = positionOf(page, state.pages.values())
      const { data } = await link.call('getCrawl', { id: crawl.id, skip, limit: 1 })
      setReading({ title: page.url, text: data[0]?.markdown || JSON.stringify(data[0] ?? {}, null, 2) })
    })
  }
  useKeys(
    'screen',
    {
      title: 'Crawl',
      bindings: [
        { keys: ['e'], label: onlyErrors ? 'all pages' : 'only errors', run: () => setOnlyErrors(!onlyErrors) },
        { keys: ['escape', 'q'], label: 'back to the list', run: onClose },
      ],
    },
    reading === null,
  )
  if (reading) return <Pager {...reading} width={width} height={height} onClose={() => setReading(null)} />
  return (
    <Box flexDirection="column" width={width} height={height}>
      <CrawlHead crawl={crawl} progress={state.progress} width={width} />
      <Table
        title="Pages"
        rows={rows}
        keyOf={({ key }) => key}
        columns={columnsOf(theme)}
        width={width}
        height={height - 3}
        empty={onlyErrors ? 'no errors' : 'no pages yet'}
        onOpen={open}
      />
    </Box>
  )
}

const columnsOf = (theme: Theme): Column<TreeRow>[] => [
  {
    head: 'PAGE',
    of: ({ level, label, page }) => `${'  '.repeat(level)}${page ? marks[page.state] : '▾'} ${label}`,
    colour: ({ page }) => (page?.state === 'error' ? theme.bad : undefined),
  },
  { head: 'TITLE OR ERROR', of: ({ page }) => page?.problem ?? page?.title ?? '' },
]

function CrawlHead({
  crawl,
  progress,
  width,
}: {
  crawl: CrawlListed
  progress: typeof noPages.progress
  width: number
}) {
  const { total, completed, errors, queued, pages_per_second: perSecond, current } = progress
  const status = progress.status ?? crawl.status
  const rate = perSecond > 0 ? `, ${perSecond.toFixed(1)} a second` : ''
  const left = queued > 0 ? `, ${queued} queued` : ''
  const done = completed + errors
  return (
    <Box flexDirection="column" height={3} width={width}>
      <Text bold wrap="truncate">{` ${status}  ${cut(plain(crawl.start_url), width - 14)}`}</Text>
      <Box width={width}>
        <Box width={Math.min(30, Math.floor(width / 3))} marginLeft={1}>
          <ProgressBar value={total > 0 ? (done / total) * 100 : 0} />
        </Box>
        <Text wrap="truncate">{` ${completed} of ${total} pages, ${errors} errors${left}${rate}`}</Text>
      </Box>
      <Text dimColor wrap="truncate">
        {` ${current.length > 0 ? `now: ${plain(current.join('  '))}` : ''}`}
      </Text>
    </Box>
  )
}
