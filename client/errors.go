package client

import (
	"errors"
	"net/http"

	"github.com/contextmem/contextmem/fault"
)

// codes are the error codes of both generations of the REST API.
var codes = map[string]struct {
	kind     fault.Kind
	resource fault.Resource
}{
	"INVALID_TENANT_ID":        {fault.KindInvalid, fault.Tenant},
	"INVALID_PARAMETERS":       {fault.KindInvalid, ""},
	"INVALID_INPUT":            {fault.KindInvalid, ""},
	"INVALID_MEMORY_FORMAT":    {fault.KindUnprocessed, fault.Memory},
	"INVALID_EMBEDDING_FORMAT": {fault.KindUnprocessed, fault.Embedding},
	"VALIDATION_ERROR":         {fault.KindUnprocessed, ""},
	"TENANT_NOT_FOUND":         {fault.KindNotFound, fault.Tenant},
	"DATABASE_NOT_FOUND":       {fault.KindNotFound, fault.Tenant},
	"SOURCE_NOT_FOUND":         {fault.KindNotFound, fault.Source},
	"MEMORY_NOT_FOUND":         {fault.KindNotFound, fault.Memory},
	"FILE_NOT_FOUND":           {fault.KindNotFound, fault.File},
	"COLLECTION_NOT_FOUND":     {fault.KindNotFound, fault.Sub},
	"NOT_FOUND":                {fault.KindNotFound, ""},
	"TENANT_ALREADY_EXISTS":    {fault.KindExists, fault.Tenant},
	"DATABASE_ALREADY_EXISTS":  {fault.KindExists, fault.Tenant},
	"CONFLICT":                 {fault.KindConflict, ""},
	"TENANT_INFRA_NOT_READY":   {fault.KindNotReady, fault.Tenant},
	"SOURCE_PROCESSING":        {fault.KindProcessing, fault.Source},
	"FILE_TOO_LARGE":           {fault.KindTooLarge, fault.File},
	"REQUEST_TOO_LARGE":        {fault.KindTooLarge, ""},
	"INVALID_FILE_FORMAT":      {fault.KindFormat, fault.File},
	"UNAUTHORIZED":             {fault.KindUnauthorized, ""},
	"FORBIDDEN":                {fault.KindForbidden, ""},
	"RATE_LIMITED":             {fault.KindRateLimited, ""},
	"SERVICE_UNAVAILABLE":      {fault.KindUnavailable, ""},
	"BACKEND_ERROR":            {fault.KindUpstream, ""},
	"INTERNAL_ERROR":           {fault.KindInternal, ""},
}

// kindOf returns the kind and the resource of an error by its code, or by its status if the code is unknown.
func kindOf(code string, status int) (fault.Kind, fault.Resource) {
	if c, ok := codes[code]; ok {
		return c.kind, c.resource
	}
	switch status {
	case http.StatusBadRequest:
		return fault.KindInvalid, ""
	case http.StatusUnprocessableEntity:
		return fault.KindUnprocessed, ""
	case http.StatusUnauthorized:
		return fault.KindUnauthorized, ""
	case http.StatusForbidden:
		return fault.KindForbidden, ""
	case http.StatusNotFound:
		return fault.KindNotFound, ""
	case http.StatusConflict:
		return fault.KindConflict, ""
	case http.StatusRequestEntityTooLarge:
		return fault.KindTooLarge, ""
	case http.StatusTooManyRequests:
		return fault.KindRateLimited, ""
	case http.StatusServiceUnavailable, http.StatusRequestTimeout:
		return fault.KindUnavailable, ""
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return fault.KindUpstream, ""
	}
	return fault.KindInternal, ""
}

// notOverREST returns the error for a field of a request that REST does not support.
func notOverREST(op, field string) error {
	return &fault.Error{Op: op, Kind: fault.KindInvalid, Field: field, Err: errors.New("is not carried over REST")}
}
