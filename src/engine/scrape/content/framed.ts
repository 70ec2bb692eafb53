/** Whether HTML text has frames, whose content is fetched before the page is read. */
export const holdsFrames = (html: string): boolean => /<i?frame\b/i.test(html)

/** The warning about a page whose frames are not read. */
export const framesLeft = 'the page is too large for its frames to be read too'
