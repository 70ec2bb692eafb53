/** Whether HTML text has frames, whose content is fetched before the page is read. */
export const holdsFrames = (html: string): boolean => /<i?frame\b/i.test(html)
