import packageJson from '../../package.json' with { type: 'json' }

/** Version of this package, which engines and clients compare. */
export const version: string = packageJson.version
