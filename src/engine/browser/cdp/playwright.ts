/** Loads Playwright when the first browser is needed: `require` is a third faster than `import()`. */
import { createRequire } from 'node:module'
import type * as Playwright from 'playwright'

const load = createRequire(import.meta.url)

export const playwright = (): typeof Playwright => load('playwright') as typeof Playwright
