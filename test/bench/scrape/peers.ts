/** Other tools that convert HTML to Markdown. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { run } from '../measure.ts'

export interface Peers {
  mdream(html: string): string
  turndown(html: string): string
  readable(html: string, url: string): string
}

/** Installs the tools into a folder. */
export async function installPeers(folder: string): Promise<Peers> {
  // npm does not always install the native part of the package.
  const native = `@mdream/rust-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : process.platform === 'win32' ? '-msvc' : ''}@1.7.2`
  const packages = ['@mozilla/readability@0.6.0', 'turndown@7.2.1', 'linkedom@0.18.14', 'mdream@1.7.2', native]
  await run('npm', [
    'install',
    '--prefix',
    folder,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    ...packages,
  ])
  const load = createRequire(join(folder, 'package.json'))
  const { Readability } = load('@mozilla/readability') as {
    Readability: new (document: unknown) => { parse(): { content: string } | null }
  }
  const Turndown = load('turndown') as new (options: object) => { turndown(html: unknown): string }
  const { parseHTML } = (await import(pathToFileURL(join(folder, 'node_modules/linkedom/esm/index.js')).href)) as {
    parseHTML(html: string): { document: unknown }
  }
  const { htmlToMarkdown } = (await import(pathToFileURL(join(folder, 'node_modules/mdream/dist/index.mjs')).href)) as {
    htmlToMarkdown(html: string): unknown
  }
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced' })
  return {
    mdream: (html) => String(htmlToMarkdown(html)),
    turndown: (html) => turndown.turndown((parseHTML(html).document as { body: unknown }).body),
    readable: (html) => {
      const found = new Readability(parseHTML(html).document).parse()
      return turndown.turndown(
        (parseHTML(`<!doctype html><html><body>${found?.content ?? ''}</body></html>`).document as { body: unknown })
          .body,
      )
    },
  }
}
