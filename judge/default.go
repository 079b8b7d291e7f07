package judge

import (
	"context"
	"errors"

	"github.com/contextmem/contextmem/internal/models"
)

var process = models.Registry[Judge]{Kind: "judge", Kinds: "models of change", Option: "Options.Judge"}

// None as Options.Judge means no judge, even if an imported package registers one.
var None Judge = none{}

type none struct{}

var errNone = errors.New("there is no judge")

// Model implements [Judge].
func (none) Model() string { return "none" }

// Replaces is never called.
func (none) Replaces(context.Context, []Pair) ([]float64, error) { return nil, errNone }

// Answers is never called.
func (none) Answers(context.Context, string, []string) ([]float64, error) { return nil, errNone }

// Register registers open under a name as the function that opens the default judge of the process. A second registration under
// the same name replaces the first. Packages under models/ call Register when they are imported.
func Register(name string, open func() (Judge, error)) { process.Register(name, open) }

// Default opens the registered judge. It returns nil if there is none, and an error if there are several, since the
// default must not depend on the order of imports.
func Default() (Judge, error) { return process.Default() }
