/** Draws the references of the controls on a page, for a screenshot. */
import type { Page } from 'playwright'
import type { Annotations } from '../../../core/operation/command.ts'
import { unlessGone } from '../page/playwright-errors.ts'
import { pageFunction } from '../page/page-function.ts'
import { listControls } from '../observe/observe.ts'
import type * as drawing from './labels.page.ts'
import labelsScript from './labels.page.ts?inline'

const showLabels = pageFunction<typeof drawing.showLabels>(labelsScript, 'showLabels')
const hideLabels = pageFunction<typeof drawing.hideLabels>(labelsScript, 'hideLabels')

export async function annotate(page: Page, signal: AbortSignal): Promise<Annotations> {
  const { controls, scroll, viewport } = await listControls(page, signal)
  const shown = controls.filter(({ visible, box }) => visible && box.width > 0 && box.height > 0)
  await page.evaluate(
    showLabels,
    shown.map(({ ref, box }) => ({ text: ref, box })),
  )
  return {
    annotations: shown.map(({ ref, role, name, box }) => ({ ref, role, name, box })),
    scroll,
    viewport,
    // The marks of a page that navigates meanwhile go with it.
    clear: async () => void (await unlessGone(page.evaluate(hideLabels, undefined))),
  }
}
