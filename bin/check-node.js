// Throws if this Node is older than bax needs. Also the first import of the library.
const { engines } = require('../package.json')

const needed = engines.node.replace('>=', '')
const [major, minor] = needed.split('.').map(Number)
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number)
if (ownMajor < major || (ownMajor === major && ownMinor < minor))
  throw new Error(`bax needs Node ${needed} or newer; this is ${process.version}`)
