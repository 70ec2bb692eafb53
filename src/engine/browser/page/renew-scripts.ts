/**
 * Playwright's own scripts in a page, which it loads once for each world of a document: where one was terminated while it
 * loaded, no element is found until the next document.
 */
import type { Page } from 'playwright'
import { serverFrame } from './internals.ts'

/** Names of the promises in which a world of Playwright keeps its scripts. */
const scripts = ['_injectedScriptPromise', '_utilityScriptPromise'] as const

/** Lets Playwright load its scripts again in the worlds of a page in which they fail to load now. */
export function renewScripts(page: Page): void {
  for (const frame of page.frames()) {
    for (const { context } of serverFrame(frame)?._contextData?.values() ?? []) {
      for (const name of scripts) {
        const script = context?.[name]
        script?.catch(() => {
          if (context![name] === script) context![name] = undefined
        })
      }
    }
  }
}
