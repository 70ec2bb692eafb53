/** Reports that an action was not performed directly, since the case is unclear: Playwright performs it then. */
export class Unclear extends Error {}
