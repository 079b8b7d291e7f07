package contextmem_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// withoutError are the methods of handles that report no error; they return names or other handles.
var withoutError = map[string]bool{"ID": true, "Name": true, "Tenant": true, "Sub": true, "Org": true, "Providers": true, "Supported": true, "MaxFileBytes": true}

// TestHandlesOfNoService: a call on a handle that no Service made returns an error. Every exported method is called, with zero and
// with plausible arguments, so that a method that is added later is tested too.
func TestHandlesOfNoService(t *testing.T) {
	t.Parallel()
	for _, handle := range []any{contextmem.Organisation{}, contextmem.Tenant{}, contextmem.Sub{}, contextmem.Organisation{}.Tenant("acme"),
		contextmem.Tenant{}.Sub("alice"), contextmem.Sub{}.Tenant(), new(contextmem.Service)} {
		v := reflect.ValueOf(handle)
		for i := range v.NumMethod() {
			m := v.Type().Method(i)
			for _, filled := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v.%s/filled=%t", v.Type(), m.Name, filled), func(t *testing.T) {
					t.Parallel()
					var args []reflect.Value
					for k := range v.Method(i).Type().NumIn() {
						if v.Method(i).Type().IsVariadic() && k == v.Method(i).Type().NumIn()-1 {
							break
						}
						args = append(args, argument(t, v.Method(i).Type().In(k), filled))
					}
					var err error
					require.NotPanics(t, func() { err = lastError(v.Method(i).Call(args)) })
					if err == nil {
						require.True(t, withoutError[m.Name], "no error")
						return
					}
					require.ErrorIs(t, err, contextmem.ErrInvalid)
					if filled {
						require.Regexp(t, `no open Service|field "Org": is required`, err.Error())
					}
				})
			}
		}
	}
}

// lastError returns the error among results, or that which an iterator yields.
func lastError(results []reflect.Value) error {
	for _, r := range results {
		if err, ok := r.Interface().(error); ok {
			return err
		}
		if r.Kind() != reflect.Func {
			continue
		}
		var last error
		for _, x := range r.Seq2() {
			last, _ = x.Interface().(error)
		}
		return last
	}
	return nil
}

// argument returns a value of a parameter's type: the zero value, or one that no check refuses before the service is asked.
func argument(t *testing.T, of reflect.Type, filled bool) reflect.Value {
	t.Helper()
	v := reflect.New(of).Elem()
	switch {
	case of == reflect.TypeFor[context.Context]():
		return reflect.ValueOf(t.Context())
	case of.Kind() == reflect.Interface && reflect.TypeFor[*bytes.Buffer]().Implements(of):
		return reflect.ValueOf(new(bytes.Buffer))
	case !filled:
		return v
	}
	plausible(v, 0)
	return v
}

// plausible sets what it can of a value to something plausible.
func plausible(v reflect.Value, depth int) {
	if !v.CanSet() || depth > 3 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString("acme")
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch v.Type().Field(i).Name {
			case "ID", "IDs", "Query", "Text", "Memories", "Name", "Messages", "SourceID":
				plausible(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.Uint8:
			v.SetBytes(make([]byte, 32))
		case reflect.String, reflect.Struct:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			plausible(v.Index(0), depth+1)
		}
	}
}
