/** Names of properties, and of keyframe fields, that do not move elements. */
export const paint =
  /^(?:offset|computedOffset|easing|composite|opacity|color|fill|filter|stroke\w*|outline\w*|caretColor|accentColor|background(?!Attachment)\w*|backdropFilter|border\w*Color|boxShadow|textShadow|textDecoration\w*)$/
