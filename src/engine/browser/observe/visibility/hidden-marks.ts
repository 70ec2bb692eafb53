/** Characters around text that people cannot see, between page and engine. Unicode assigns them to nothing. */
export const hiddenStart = '\uFDD0'
export const hiddenEnd = '\uFDD1'
