/** Chromium's own sandbox: root cannot use it, so that pages are kept in by the container or machine alone. */

/** Whether browsers of this user run with `--no-sandbox`. */
export const lacksSandbox = (uid: number | undefined): boolean => uid === 0

export const sandboxOff =
  'browsers run as root with --no-sandbox: a page that breaks out of its renderer has all rights of root'
export const sandboxHint = 'run bax as another user to keep the sandbox of Chromium'
