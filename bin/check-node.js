// Throws if this Node is older than bax needs, as `engines` of package.json says. Also the first import of the library.
const needed = '20.12'
const [major, minor] = needed.split('.').map(Number)
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number)
if (ownMajor < major || (ownMajor === major && ownMinor < minor))
  throw new Error(`bax needs Node ${needed} or newer; this is ${process.version}`)
