/** Sanitizes text of pages and programs for the terminal. */

/** Removes control characters and escape sequences: a page's title must not control the terminal. */
export const plain = (text: string): string =>
  text
    .replaceAll(
      /\u001B(?:\[[0-?]{0,999}[ -/]{0,999}[@-~]|[\]PX^_][^\u0007\u001B]{0,1000000}(?:\u0007|\u001B\\)?|.)/g,
      '',
    )
    .replaceAll(/\t/g, '  ')
    // Invisible characters that change the direction of text are as dangerous.
    .replaceAll(/[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/g, '')
