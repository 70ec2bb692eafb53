/** The commands of the relay that are written by hand. */
import type { OwnEntry } from '../parse/command-table.ts'

export const relayWords: readonly OwnEntry[] = [
  {
    words: 'relay connect',
    summary: 'Bring a browser of this machine to an engine, here or elsewhere',
    example: 'bax relay connect --cdp http://127.0.0.1:9222 --name laptop',
  },
  {
    words: 'relay tabs',
    rest: '<id>',
    summary: 'List the tabs of a browser of the relay',
    example: 'bax relay tabs laptop',
  },
  {
    words: 'relay events',
    rest: '<id>',
    summary: 'Read, follow, export or forget what happened in a browser of the relay',
    example: 'bax relay events laptop --follow --kind console,network --level error',
  },
  {
    words: 'cdp',
    rest: '<method> [params]',
    summary: 'Call a method of the Chrome DevTools Protocol',
    example: `bax cdp -s laptop Page.captureScreenshot '{"format":"png"}' --field data -o page.png`,
  },
]
