// Package language reads text: tokens, sentences, dates and names, and the cues in a question.
//
// Extraction by rules and recall both use it. English is read in full. In Spanish, German, French, Portuguese, Italian, Chinese and
// Japanese the package recognises relative dates; in other languages spelled dates, numbers, addresses and identifiers. The word lists
// are text files under tables, which are loaded with the first text.
//
// A [Document] is read in steps: [Document.Read] (or [Document.SplitText] and [Document.ReadDates]), then [Document.ReadNames].
// [Dates] and [QueryCues] do only the steps that they need. Documents are not safe for concurrent use; the functions are.
package language
