/** Words of the relay that its parts, its shapes and the terminal share (`spec: relay 2, 4 and 5`). */

/** What consumers may do to the user's browser. */
export const relayPolicies = ['full', 'no-lifecycle', 'read-only'] as const
export type RelayPolicy = (typeof relayPolicies)[number]

/** Browsers whose usual data folder is known. */
export const runningBrowsers = ['chrome', 'chromium', 'edge'] as const
export type RunningBrowser = (typeof runningBrowsers)[number]

/** Kinds of events that a connector collects. */
export const collectedKinds = ['console', 'network', 'page'] as const
export type CollectedKind = (typeof collectedKinds)[number]
