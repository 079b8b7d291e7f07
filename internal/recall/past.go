package recall

import "github.com/contextmem/contextmem/internal/lazyregexp"

// pastCues matches words that show that a question asks for a former state.
var pastCues = lazyregexp.New(`(?i)\b(used to|previous(ly)?|former(ly)?|originally|back then|at first|in the old|before (i|we|you|he|she|they|it|the|my|our|his|her|their|that|this)|before \pL+ (and|came|went|moved|left|took|got|had)|had \pL+ before)\b` +
	`|\bhad \pL+ before \pL+|\b(früher|vorher|damals|zuvor|bevor|auparavant|autrefois|avant (que|de|le|la|mon|ma)|antes de|anteriormente|antiguo|anterior|prima di|precedente|vroeger|voorheen|poprzedni|wcześniej|eskiden|önceden|sebelumnya|dulu|trước đây)\b` +
	`|以前|之前|原来|从前|前の|昔|раньше|прежн|예전|이전|पहले|سابق|قبل|เมื่อก่อน`)

// asksOfPast reports whether a question asks for a former state. Superseded memories then answer it.
func asksOfPast(question string) bool { return pastCues.MatchString(question) }
