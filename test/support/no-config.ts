import { fileURLToPath } from 'node:url'

/** Settings file without settings, which replaces that of the user who runs the tests. */
export const noConfig = fileURLToPath(new URL('../fixtures/config.json', import.meta.url))
