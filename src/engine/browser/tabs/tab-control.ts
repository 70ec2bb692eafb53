/** The tabs of a session, as commands list, open, select and close them. */
import type { Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { TabControl } from '../../../core/operation/command.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { ObservedTab } from '../../../core/shapes/observe.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { titleOf } from '../page/internals.ts'
import { hasCrashed } from './crash.ts'
import { shownUrl } from './page-events.ts'
import { setTabLabel, tabIdOf, tabLabelOf } from './tab-ids.ts'

/** Timeout for a title, so that a page that hangs does not block a list. */
const titleMs = 250

type Target = Pick<BatchTarget, 'pages' | 'page' | 'browserContext' | 'activate'>

/** Lists the tabs in the order in which they were opened. */
export const tabsOf = (
  { pages }: Pick<Target, 'pages'>,
  active: Page | undefined,
  activeTitle?: string,
): Promise<ObservedTab[]> =>
  Promise.all(pages.map(async (page) => (page === active ? tabOf(page, true, activeTitle) : tabOf(page, false))))

async function tabOf(page: Page, active: boolean, knownTitle?: string): Promise<ObservedTab> {
  const label = tabLabelOf(page)
  return {
    tab_id: tabIdOf(page),
    ...(label !== undefined && { label }),
    url: shownUrl(page.url()),
    title: knownTitle ?? (await withDeadline(titleOf(page), { ms: titleMs }).catch(() => '')),
    active,
    ...(hasCrashed(page) && { crashed: true as const }),
  }
}

/** Returns the tabs of a session for one command; `current` is the active tab at its start. */
export const tabControl = (target: Target, current: Page): TabControl => ({
  list: () => tabsOf(target, current),
  async open(label) {
    if (target.pages.length >= limits.session.tabs) {
      throw new BaxError('action_failed', `the session already has ${limits.session.tabs} tabs`, {
        hint: 'close one with close_tab',
      })
    }
    if (label !== undefined && target.pages.some((page) => tabLabelOf(page) === label)) {
      throw new BaxError('invalid_data', `an open tab already has the label ${label}`, { hint: 'choose another label' })
    }
    const page = await target.browserContext.newPage()
    if (label !== undefined) setTabLabel(page, label)
    await target.activate(page)
    return page
  },
  async select(tab) {
    const page = find(target, tab)
    await target.activate(page)
    return tabOf(page, true)
  },
  async close(tab) {
    const page = tab === undefined ? current : find(target, tab)
    if (target.pages.length === 1) {
      throw new BaxError('action_failed', `${tabIdOf(page)} is the last tab of the session`, {
        hint: 'close the session instead ("bax close"), or open another tab first',
      })
    }
    await page.close()
    return { closed: tabIdOf(page), active: tabIdOf(await target.page()) }
  },
  describe: (page) => tabOf(page, true),
})

/** @throws BaxError `target_not_found` */
function find({ pages }: Pick<Target, 'pages'>, tab: string): Page {
  const found = pages.find((page) => tabIdOf(page) === tab || tabLabelOf(page) === tab)
  if (found) return found
  const open = pages.map((page) => [tabIdOf(page), tabLabelOf(page)].filter(Boolean).join(' = '))
  throw new BaxError('target_not_found', `no open tab has the ID or label ${tab}`, {
    hint: `use one of: ${open.join(', ')}`,
  })
}
