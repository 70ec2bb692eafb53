/** Returns a word as a shell reads it. */
export const quoted = (text: string): string =>
  text !== '' && !/[^\w./:@=+-]/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
