package wire

import "github.com/contextmem/contextmem/content"

// Warning says that a call did less than it was asked, or something else.
type Warning struct {
	Code    string `json:"code"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Warnings converts the JSON form to warnings.
func Warnings(list []Warning) []content.Warning {
	return read(list, func(w *Warning) content.Warning { return content.Warning(*w) })
}

// Usage is the model usage for an item.
type Usage struct {
	Calls      int     `json:"calls"`
	Completion int     `json:"completion_tokens"`
	Fallback   *string `json:"fallback"`
	Model      string  `json:"model"`
	Prompt     int     `json:"prompt_tokens"`
}

// OfUsage converts model usage to its JSON form; nil stays nil.
func OfUsage(u *content.ModelUsage) *Usage {
	if u == nil {
		return nil
	}
	return &Usage{u.Calls, u.CompletionTokens, Null(u.Fallback), u.Model, u.PromptTokens}
}

// Usage converts the JSON form to model usage; nil stays nil.
func (u *Usage) Usage() *content.ModelUsage {
	if u == nil {
		return nil
	}
	return &content.ModelUsage{Model: u.Model, PromptTokens: u.Prompt, CompletionTokens: u.Completion, Calls: u.Calls, Fallback: Text(u.Fallback)}
}

// Notes holds fields that only items have that a model read or whose instructions were not all followed.
type Notes struct {
	Usage    *Usage    `json:"usage,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
}

// Fetched is the JSON form of a source's original.
type Fetched struct {
	Success     bool    `json:"success"`
	ID          string  `json:"id"`
	SourceID    string  `json:"source_id"`
	Content     *string `json:"content"`
	Base64      *string `json:"content_base64"`
	Inferred    *string `json:"inferred_content"`
	URL         *string `json:"presigned_url"`
	ContentType string  `json:"content_type"`
	Size        *int64  `json:"size_bytes"` // null for a memory
	Message     string  `json:"message"`
	Error       *string `json:"error"`
	Partial     string  `json:"partial,omitempty"`
	Notes
}

// StatusRow is the JSON form of an item's state. The first generation of the API has no id, error_message and hint.
type StatusRow struct {
	FileID       string  `json:"file_id"`
	Status       string  `json:"indexing_status"`
	ErrorCode    string  `json:"error_code"`
	Success      bool    `json:"success"`
	Message      string  `json:"message"`
	ID           *string `json:"id,omitempty"`
	ErrorMessage *string `json:"error_message,omitempty"`
	Hint         string  `json:"hint,omitempty"`
	Partial      string  `json:"partial,omitempty"`
	ReadPages    int     `json:"pages_read,omitempty"`
	TotalPages   int     `json:"pages_total,omitempty"`
	ServesOlder  bool    `json:"serves_older_version,omitempty"`
	Notes
}

// codeUnknown is the error code for an item that does not exist.
const codeUnknown = "FILE_NOT_FOUND"

// Item converts the JSON form to a state. The JSON form lacks Class and Attempts.
func (r *StatusRow) Item() content.ItemStatus {
	return content.ItemStatus{ID: Text(r.ID), Status: content.Status(r.Status), ErrorCode: r.ErrorCode, ErrorMessage: Text(r.ErrorMessage), Unknown: r.ErrorCode == codeUnknown,
		Hint: Tenants(r.Hint), Partial: r.Partial, ReadPages: r.ReadPages, TotalPages: r.TotalPages, ServesOlder: r.ServesOlder, Warnings: Warnings(r.Warnings)}
}

// ItemRow is the outcome for an ingested item. It has the fields of both API generations and both classes.
type ItemRow struct {
	ID               string  `json:"id"`
	SourceID         string  `json:"source_id"`
	Filename         *string `json:"filename"`
	Title            *string `json:"title"`
	Status           string  `json:"status"`
	Infer            bool    `json:"infer"`
	Error            *string `json:"error"`
	ErrorCode        *string `json:"error_code"`
	RelationsCreated int     `json:"relations_created"`
	RelationsError   *string `json:"relations_error"`
	Skipped          string  `json:"skipped,omitempty"`
}

// Ingested is the response to the ingestion of items.
type Ingested struct {
	Success bool      `json:"success"`
	Message string    `json:"message"`
	Results []ItemRow `json:"results"`
	Count   int       `json:"success_count"`
	Failed  int       `json:"failed_count"`
	Skipped int       `json:"skipped_count,omitempty"`
}
