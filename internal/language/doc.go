// Package language reads text: tokens, sentences, dates and names, and what the words of a question say about the answer that it wants.
//
// It is what extraction by rules and recall both need. English is read in full; of Spanish, German, French, Portuguese, Italian, Chinese and
// Japanese it knows relative dates, of other languages spelled dates, numbers, addresses and identifiers. The words stand in text files
// under tables, which are read when the first text comes.
//
// A [Document] is read in steps: [Document.Read] (or [Document.SplitText] and [Document.ReadDates]), then [Document.ReadNames]. [Dates] and
// [QueryCues] do what is needed for their answer alone. Documents are not safe for concurrent use; the functions are.
package language
