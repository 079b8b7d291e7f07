// Package parse turns documents of many formats into clean text.
//
// A [Registry] detects the type of a document (by content first, by its declared type and its name second), runs the [document.Parser] of
// that type under [document.Limits] and returns a [document.Document]: Markdown text that keeps headings, lists, tables, links and code,
// with the title, author, dates and pages that the format has.
//
// The parsers are in the packages text, light, markup, office, mail, chat, folder and pdf below this directory. They share the writer of
// package output, the scanner of package xmlscan and the container readers of package archive. To add a format, add its type and name
// endings to package media, add its parser to [Registry], and add its first bytes to sniff if the format has a signature.
//
// The bundled parsers read plain text and source code in any common charset, Markdown, reStructuredText, AsciiDoc, Org, LaTeX, manual
// pages, HTML, CSV and TSV, JSON and JSON Lines, XML, FictionBook, exports of Evernote and of chats, RTF, PDF, DOCX, PPTX, XLSX, ODT, ODS,
// ODP, EPUB, DOC, XLS, PPT and MSG of 1997 to 2003, subtitles, notebooks, calendars, contacts, mails and mailboxes with their attachments,
// and zip, tar and gzip as folders. Other archives, programs and media are refused ([document.Unsupported]). Images are read through a
// [document.OCR] if one is set.
//
// All input is untrusted. Parsers never open a file, a network connection or an external entity. Sizes, depth, ratio and time are bounded.
// A panic becomes an [*document.Error] of that document. A document without text is an error ([document.NoText]), never a silent success,
// and Document.Partial says why a text may be incomplete.
package parse
