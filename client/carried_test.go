package client_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
)

// notCarried has the fields that a request does not carry, with the reason.
var notCarried = map[string]string{
	"Files[0].Open": "read only where Data is nil",
}

// TestEveryFieldIsCarriedOrRefused sets each field of each request in turn. Either the request sent changes, or the
// call is refused with the name of the field. A field without either effect would be ignored, which is a leak if it is
// for access control.
func TestEveryFieldIsCarriedOrRefused(t *testing.T) {
	t.Parallel()
	var sent bytes.Buffer
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent.WriteString(r.Method + " " + r.URL.String() + "\n")
		for _, h := range []string{"X-Service-Delete-Status"} {
			sent.WriteString(h + ": " + r.Header.Get(h) + "\n")
		}
		sent.Write(body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"success":true,"data":{"pagination":{"page_size":1}}}`)
	}))
	t.Cleanup(srv.Close)
	c := dial(t, srv.URL)
	m := c.Tenant("acme").Sub("bob")
	boundary := regexp.MustCompile(`[0-9a-f]{60}`)
	requests := map[string]struct {
		base any // the smallest valid request
		call func(ctx context.Context, r any) error
	}{
		"Recall": {contextmem.Recall{Query: "q"}, func(ctx context.Context, r any) error {
			_, err := m.Recall(ctx, r.(contextmem.Recall))
			return err
		}},
		"AddMemories": {contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "t"}}}, func(ctx context.Context, r any) error {
			_, err := m.AddMemories(ctx, r.(contextmem.MemoryBatch))
			return err
		}},
		"AddKnowledge": {contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "f", Name: "f.txt", Data: []byte("t")}}, Apps: []contextmem.AppItem{{ID: "a"}}},
			func(ctx context.Context, r any) error {
				_, err := m.AddKnowledge(ctx, r.(contextmem.KnowledgeBatch))
				return err
			}},
		"List": {contextmem.ListRequest{}, func(ctx context.Context, r any) error {
			_, err := m.List(ctx, r.(contextmem.ListRequest))
			return err
		}},
		"Fetch": {contextmem.FetchRequest{ID: "f"}, func(ctx context.Context, r any) error {
			_, err := m.Fetch(ctx, r.(contextmem.FetchRequest))
			return err
		}},
		"DeleteItems": {contextmem.DeleteItemsRequest{IDs: []string{"f"}, Class: contextmem.ClassMemory}, func(ctx context.Context, r any) error {
			_, err := m.DeleteItems(ctx, r.(contextmem.DeleteItemsRequest))
			return err
		}},
		"Facts": {facts.Request{}, func(ctx context.Context, r any) error {
			_, err := m.Facts(ctx, r.(facts.Request))
			return err
		}},
		"Profile": {facts.ProfileRequest{}, func(ctx context.Context, r any) error {
			_, err := m.Profile(ctx, r.(facts.ProfileRequest))
			return err
		}},
		"History": {content.HistoryRequest{ID: "f"}, func(ctx context.Context, r any) error {
			_, err := m.History(ctx, r.(content.HistoryRequest))
			return err
		}},
		"RestoreVersion": {content.RestoreVersionRequest{ID: "f", Version: 1}, func(ctx context.Context, r any) error {
			_, err := m.RestoreVersion(ctx, r.(content.RestoreVersionRequest))
			return err
		}},
		"Erase": {contextmem.EraseRequest{}, func(ctx context.Context, r any) error {
			_, err := m.Erase(ctx, r.(contextmem.EraseRequest))
			return err
		}},
		"VerifyReceipt": {contextmem.EraseReceipt{}, func(ctx context.Context, r any) error { return c.VerifyReceipt(ctx, r.(contextmem.EraseReceipt)) }},
		"CreateTenant":  {contextmem.TenantSpec{ID: "acme", Schema: []contextmem.Field{{Name: "f"}}}, func(ctx context.Context, r any) error { return c.CreateTenant(ctx, r.(contextmem.TenantSpec)) }},
		"CreateKey": {contextmem.KeySpec{}, func(ctx context.Context, r any) error {
			_, _, err := c.CreateKey(ctx, r.(contextmem.KeySpec))
			return err
		}},
	}
	for name, r := range requests {
		t.Run(name, func(t *testing.T) {
			ask := func(req reflect.Value) (string, error) {
				sent.Reset()
				err := r.call(t.Context(), req.Interface())
				return boundary.ReplaceAllString(sent.String(), "boundary"), err
			}
			plain, err := ask(reflect.ValueOf(r.base))
			require.NoError(t, err)
			eachField(reflect.TypeOf(r.base), reflect.ValueOf(r.base), "", func(path string, req reflect.Value) {
				got, err := ask(req)
				var refused *contextmem.Error
				switch {
				case notCarried[path] != "":
				case err == nil:
					assert.True(t, plain != got, "%s is not sent", path)
				default:
					require.ErrorAs(t, err, &refused)
					require.ErrorIs(t, err, contextmem.ErrInvalid)
					require.Contains(t, refused.Field, path[strings.LastIndex(path, ".")+1:])
				}
			})
		})
	}
}

// eachField calls f with a copy of base for each of its fields, also in nested structs, with another value in that
// field.
func eachField(typ reflect.Type, base reflect.Value, path string, f func(path string, v reflect.Value)) {
	switch {
	case typ == reflect.TypeFor[time.Time]() || typ == reflect.TypeFor[contextmem.Alpha]():
	case typ.Kind() == reflect.Struct:
		for i := range typ.NumField() {
			field := typ.Field(i)
			if !field.IsExported() {
				continue
			}
			eachField(field.Type, base.Field(i), strings.TrimPrefix(path+"."+field.Name, "."), func(path string, v reflect.Value) {
				whole := reflect.New(typ).Elem()
				whole.Set(base)
				whole.Field(i).Set(v)
				f(path, whole)
			})
		}
		return
	case typ.Kind() == reflect.Pointer:
		inner := reflect.New(typ.Elem())
		f(path, inner)
		if typ.Elem().Kind() == reflect.Struct {
			eachField(typ.Elem(), inner.Elem(), path, func(path string, v reflect.Value) {
				p := reflect.New(typ.Elem())
				p.Elem().Set(v)
				f(path, p)
			})
		}
		return
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct:
		first := reflect.New(typ.Elem()).Elem()
		if base.Len() > 0 {
			first = base.Index(0)
		}
		eachField(typ.Elem(), first, path+"[0]", func(path string, v reflect.Value) {
			list := reflect.MakeSlice(typ, 1, 1)
			list.Index(0).Set(v)
			f(path, list)
		})
		return
	}
	f(path, otherValue(typ, base))
}

// otherValue returns a value of a type that is not base.
func otherValue(typ reflect.Type, base reflect.Value) reflect.Value {
	v := reflect.New(typ).Elem()
	switch {
	case typ == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2024, 5, 3, 9, 30, 0, 0, time.UTC)))
	case typ == reflect.TypeFor[contextmem.Alpha]():
		v.Set(reflect.ValueOf(contextmem.FixedAlpha(.3)))
	case typ == reflect.TypeFor[time.Duration]():
		v.SetInt(int64(time.Hour))
	case typ == reflect.TypeFor[contextmem.Class]():
		v.Set(reflect.ValueOf(contextmem.ClassMemory))
		if base.Interface() == v.Interface() {
			v.Set(reflect.ValueOf(contextmem.ClassKnowledge))
		}
	case typ == reflect.TypeFor[error]():
		v.Set(reflect.ValueOf(io.EOF))
	case typ.Kind() == reflect.String:
		v.SetString(base.String() + "x")
	case typ.Kind() == reflect.Bool:
		v.SetBool(!base.Bool())
	case typ.Kind() == reflect.Float64:
		v.SetFloat(base.Float() + .5)
	case typ.Kind() == reflect.Int || typ.Kind() == reflect.Int64:
		v.SetInt(base.Int() + 7)
	case typ.Kind() == reflect.Uint8:
		v.SetUint(base.Uint() ^ 1)
	case typ.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(typ, 1, 1))
		v.Index(0).Set(otherValue(typ.Elem(), reflect.New(typ.Elem()).Elem()))
	case typ.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(typ))
		v.SetMapIndex(reflect.ValueOf("k"), otherValue(typ.Elem(), reflect.New(typ.Elem()).Elem()))
	case typ.Kind() == reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	case typ.Kind() == reflect.Func:
		v.Set(reflect.MakeFunc(typ, func([]reflect.Value) (out []reflect.Value) {
			for i := range typ.NumOut() {
				out = append(out, reflect.Zero(typ.Out(i)))
			}
			return out
		}))
	case typ.Kind() == reflect.Struct:
	default:
		panic("no other value of " + typ.String())
	}
	return v
}
