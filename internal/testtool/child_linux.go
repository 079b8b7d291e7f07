package testtool

import (
	"os/exec"
	"runtime"
	"syscall"
)

// startChild starts a program that is killed when this process ends. exited is closed when the program has ended. An existing
// cmd.SysProcAttr is kept.
func startChild(cmd *exec.Cmd) (exited chan struct{}, err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	exited = make(chan struct{})
	errs := make(chan error)
	// The thread that starts the program lives on until the program has ended: the program would die with it.
	go func() {
		defer close(exited)
		runtime.LockOSThread()
		err := cmd.Start()
		errs <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	return exited, <-errs
}
