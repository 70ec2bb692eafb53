/** Converts the live page to Markdown. */
import type { Locator, Page } from 'playwright'
import { readPage } from './page-reader.ts'

/** Returns the rendered page, or one element of it, as Markdown, including the content of visible frames. */
export function markdownOf(page: Page, element?: Locator): Promise<string> {
  return readPage(page, element, (module, reading) =>
    module.evaluate((reader, { element, frames }) => reader.markdown(element, frames), reading),
  )
}
