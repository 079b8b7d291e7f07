package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// help is what -h prints.
const help = `webhookreceiver receives the webhook deliveries of a contextmem server. It is configured by the environment:

  RECEIVER_ADDR     address to listen on; default 127.0.0.1:9090
  RECEIVER_SECRETS  signing secrets, separated by commas; required. During a rotation list both the old and the new one.
`

// arguments reads the command line, which takes -h alone. It returns flag.ErrHelp after it has printed the help.
func arguments(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("webhookreceiver", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { fmt.Fprint(out, help) }
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		fmt.Fprint(out, help)
		return errors.New("there are no arguments")
	}
	return nil
}
