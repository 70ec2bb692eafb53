import packageJson from '../../package.json' with { type: 'json' }

/** Version of this package, as engines and clients compare it. */
export const version: string = packageJson.version
