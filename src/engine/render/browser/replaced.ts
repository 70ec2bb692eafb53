/** Calls into a page that another page has replaced. */
import { protocolText } from '../../cdp/protocol-errors.ts'

const replaced =
  /context was destroyed|navigated or closed|Cannot find context|uniqueContextId not found|Frame was detached/i

/** Ignores errors of such calls; rethrows all others. */
export function ignoreReplaced(error: unknown): undefined {
  if (!replaced.test(protocolText(error))) throw error
  return undefined
}
