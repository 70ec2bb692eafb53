/** Whether actions may work on elements directly, without Playwright. */
import { env } from 'node:process'

/** Read at every action, so that tests can compare both ways. */
export const directActionsEnabled = (): boolean => env['BAX_DIRECT_ACTIONS'] !== '0'
