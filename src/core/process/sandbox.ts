/** Chromium's sandbox, which root cannot use: only the container or machine isolates pages then. */

/** Returns whether browsers of this user run with `--no-sandbox`. */
export const lacksSandbox = (uid: number | undefined): boolean => uid === 0

export const sandboxWarning =
  'browsers run as root with --no-sandbox: a page that escapes its renderer gains root access'
export const sandboxHint = "run bax as a non-root user to keep Chromium's sandbox"
