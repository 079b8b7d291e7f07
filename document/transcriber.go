package document

import (
	"context"
	"time"
)

// Utterance is a stretch of recorded speech.
type Utterance struct {
	// Start and End are times from the beginning of the recording; End is zero when unknown.
	Start, End time.Duration
	// Speaker is who speaks; empty when unknown.
	Speaker string
	// Text is what is said.
	Text string
}

// Transcriber turns recorded speech into text. It is called from several goroutines at once. Package transcribe has one for
// servers that speak the protocol of OpenAI.
type Transcriber interface {
	// Transcribe returns what is said in a recording, in order. mediaType is that of data, such as "audio/mpeg" or
	// "video/mp4". Utterances that come with an error are what was heard before it, and are kept.
	Transcribe(ctx context.Context, data []byte, mediaType string) ([]Utterance, error)
}
