/** Serves the generated site; see the module. */
import '../crawl/site.program.ts'
