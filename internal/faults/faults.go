// Package faults collects what is wrong with a configuration, and says all of it in one sentence.
package faults

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/hashicorp/go-multierror"
)

// List is what is wrong with the fields of a configuration. The zero value is empty.
type List struct {
	// Of begins the text of each fault, such as "option ".
	Of   string
	errs *multierror.Error
}

// Add adds a fault if it is one. The text begins with the name of the field.
func (l *List) Add(wrong bool, format string, args ...any) {
	if wrong {
		l.errs = multierror.Append(l.errs, fmt.Errorf(l.Of+format, args...))
	}
}

// Err returns nil without a fault, else an error that joins all of them; see Joined.
func (l *List) Err() error { return Joined(l.errs) }

// Joined returns an error whose text is that of all errors on one line, with "; " between them. It returns nil if there is none.
func Joined(errs *multierror.Error) error {
	if errs == nil || len(errs.Errors) == 0 {
		return nil
	}
	errs.ErrorFormat = func(all []error) string {
		texts := make([]string, len(all))
		for i, e := range all {
			texts[i] = e.Error()
		}
		return strings.Join(texts, "; ")
	}
	return errs
}

// Within sets v to def if it is zero, and adds a fault if it is outside [lo, hi].
func Within[T int | int64 | time.Duration](l *List, name string, v *T, def, lo, hi T) {
	*v = cmp.Or(*v, def)
	l.Add(*v < lo || *v > hi, "%s: %v is outside %v to %v", name, *v, lo, hi)
}

// Nil reports whether a plug-in is a nil pointer in an interface, and adds that as a fault: its first call would panic.
func (l *List) Nil(name string, plugin any) bool {
	v := reflect.ValueOf(plugin)
	wrong := v.Kind() == reflect.Pointer && v.IsNil()
	l.Add(wrong, "%s: holds a nil %T", name, plugin)
	return wrong
}

// NilPlugins is Nil for all fields of a struct that hold an interface. It clears those that are a fault.
func (l *List) NilPlugins(options any) {
	v := reflect.ValueOf(options).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && f.Type.Kind() == reflect.Interface && l.Nil(f.Name, v.Field(i).Interface()) {
			v.Field(i).SetZero()
		}
	}
}
