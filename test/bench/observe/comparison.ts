/** Compares observations of twelve application pages with Playwright's own snapshots of them. */
import type { BrowserContext } from 'playwright'
import { observationOptions } from '../../../src/core/shapes/observe.ts'
import { type AriaNode, hasControlRole } from '../../../src/engine/browser/observe/snapshot/aria.ts'
import { observe } from '../../../src/engine/browser/observe/observe.ts'
import { UserDownloads } from '../../../src/engine/relay/commands/user-downloads.ts'
import { UserTabs } from '../../../src/engine/relay/commands/user-tabs.ts'
import type { Side } from '../engines.ts'
import type { Row, Table } from '../measure.ts'
import { type ApplicationPage, startApplications } from './applications.ts'

export async function compareApplications({ playwright }: Side): Promise<Table> {
  const applications = await startApplications()
  const sizes: Sizes[] = []
  const rows: Row[] = []
  try {
    for (const application of applications.pages) {
      const context = await playwright.newContext({ viewport: { width: 1280, height: 720 } })
      const compared = await compareOne(context, application)
      sizes.push(compared)
      rows.push({ name: application.name, cells: cellsOf(compared) })
      await context.close()
    }
  } finally {
    await applications.close()
  }
  const all = (pick: (each: Sizes) => number) => sizes.reduce((sum, each) => sum + pick(each), 0)
  const total = {
    theirs: all(({ theirs }) => theirs),
    ours: all(({ ours }) => ours),
    pieces: all(({ pieces }) => pieces),
    absent: sizes.flatMap(({ absent }) => absent),
    omitted: all(({ omitted }) => omitted),
    lost: sizes.flatMap(({ lost }) => lost),
  }
  return {
    title: 'What an observation says of twelve pages',
    columns: [
      'characters of ariaSnapshot',
      'of bax observe',
      'to Playwright',
      'texts and names',
      'not shown',
      'counted as omitted',
      'missing without max_chars',
    ],
    rows: [...rows, { name: 'all', cells: cellsOf(total) }],
    note: 'Texts and names in ariaSnapshot({mode: "ai"}), looked for in the observation as it comes; at most 0.60x.',
  }
}

interface Sizes {
  readonly theirs: number
  readonly ours: number
  readonly pieces: number
  /** Missing in the observation. */
  readonly absent: readonly string[]
  readonly omitted: number
  /** Missing in an observation without a limit. */
  readonly lost: readonly string[]
}

const cellsOf = ({ theirs, ours, pieces, absent, omitted, lost }: Sizes): string[] => [
  String(theirs),
  String(ours),
  `${(ours / theirs).toFixed(2)}x`,
  String(pieces),
  String(absent.length),
  String(omitted),
  lost.length === 0 ? '0' : `${lost.length}: ${lost.slice(0, 3).join(' | ')}`,
]

async function compareOne(context: BrowserContext, application: ApplicationPage): Promise<Sizes> {
  const page = await context.newPage()
  await application.open(page)
  const client = await context.newCDPSession(page)
  const { targetInfo } = await client.send('Target.getTargetInfo')
  const target = new UserTabs({
    sessionId: 'bench',
    context,
    downloads: new UserDownloads().watch,
    active: () => targetInfo.targetId,
    ended: new AbortController().signal,
    policy: 'full',
    open: () => Promise.reject(new Error('the page has crashed')),
  })
  const inspect = async (options: object) => {
    const parsed = observationOptions.parse({ include: ['snapshot'], ...options })
    return (await observe(target, parsed, new AbortController().signal)).observation
  }
  const theirs = await page.ariaSnapshot({ mode: 'ai' })
  const pieces = piecesOf((await page.ariaSnapshotJSON({ mode: 'ai' })) as unknown as AriaNode[])
  const short = await inspect({})
  const whole = await inspect({ max_chars: 5_000_000 })
  const [shown, all] = [letters(short.snapshot!), letters(whole.snapshot!)]
  return {
    theirs: theirs.length,
    ours: short.snapshot!.length,
    pieces: pieces.length,
    absent: pieces.filter((piece) => !shown.includes(letters(piece))),
    omitted: Object.values(short.omitted).reduce((sum, count) => sum + (count ?? 0), 0),
    lost: pieces.filter((piece) => !all.includes(letters(piece))),
  }
}

/** Returns every text and name; options after the tenth of a native list are counted in their line. */
function piecesOf(nodes: readonly (AriaNode | string)[], shownOptions = 10): string[] {
  let options = 0
  return nodes.flatMap((node) => {
    if (typeof node === 'string') return [node]
    if (node.role === 'option' && node.ref === undefined && ++options > shownOptions) return []
    // The name of a row or a table cell consists of its content.
    const name = node.name && (hasControlRole(node) || !node.children) ? [node.name] : []
    return [...name, ...(node.text === undefined ? [] : [node.text]), ...piecesOf(node.children ?? [])]
  })
}

const letters = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, '')
