/** To which target a CDP method goes when none is named (`spec: relay 5`). */

/** These are answered by the browser and not by a page. */
const browserDomains = new Set(['Browser', 'Target', 'SystemInfo', 'Extensions', 'Tethering'])

/** What `target_id` says to force the browser's own session. */
export const browserTarget = 'browser'

export const isBrowserMethod = (method: string): boolean => browserDomains.has(method.slice(0, method.indexOf('.')))
