/** Names that the relay's modules, its shapes and the CLI share (`spec: relay 2, 4 and 5`). */

/** Levels of access that consumers have to the user's browser. */
export const relayPolicies = ['full', 'no-lifecycle', 'read-only'] as const
export type RelayPolicy = (typeof relayPolicies)[number]

/** Browsers whose default data folder is known. */
export const runningBrowsers = ['chrome', 'chromium', 'edge'] as const
export type RunningBrowser = (typeof runningBrowsers)[number]

/** Kinds of events that a connector collects. */
export const collectedKinds = ['console', 'network', 'page'] as const
export type CollectedKind = (typeof collectedKinds)[number]
