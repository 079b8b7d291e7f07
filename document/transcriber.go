package document

import (
	"context"
	"time"
)

// Utterance is a stretch of recorded speech.
type Utterance struct {
	// Start and End are times from the beginning of the recording; End is zero when unknown.
	Start, End time.Duration
	// Speaker is the name of the speaker; empty when unknown.
	Speaker string
	// Text is the transcribed speech.
	Text string
}

// Transcriber turns recorded speech into text. It is called from several goroutines at once. Package transcribe has one for
// servers that speak the protocol of OpenAI.
type Transcriber interface {
	// Transcribe returns the utterances of a recording, in order. mediaType is the type of data, such as "audio/mpeg" or
	// "video/mp4". With an error, Transcribe may also return the utterances before the error; the caller keeps them.
	Transcribe(ctx context.Context, data []byte, mediaType string) ([]Utterance, error)
}
