/** The live page as Markdown. */
import type { Locator, Page } from 'playwright'
import { readPage } from './page-reader.ts'

/** The rendered page, or one element of it, as Markdown; what stands in visible frames is included. */
export function markdownOf(page: Page, element?: Locator): Promise<string> {
  return readPage(page, element, (module, reading) =>
    module.evaluate((reader, { element, frames }) => reader.markdown(element, frames), reading),
  )
}
