package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"cxrepro/internal/contract"
	"cxrepro/internal/devserver"
	"cxrepro/internal/resolve"
	"cxrepro/internal/temporalconn"
)

// stopPatience bounds the clean end of a verb after its work is done.
const stopPatience = 15 * time.Second

// workerStarter starts a worker on a connection and returns what stops it.
type workerStarter func(ctx context.Context, conn *temporalconn.Conn) (stop func(context.Context) error, err error)

// addTemporalFlags adds the flags by which every verb finds Temporal.
func addTemporalFlags(flags *pflag.FlagSet) {
	flags.String("temporal", "", "file of the Temporal command for the embedded server (or CXREPRO_TEMPORAL; default: found or fetched)")
	flags.String("temporal-address", "", "HOST:PORT of a Temporal cluster, or \"embedded\" (or TEMPORAL_ADDRESS; default embedded)")
	flags.String("temporal-namespace", "", "namespace (or TEMPORAL_NAMESPACE; default \"default\", embedded \"cxrepro\")")
	flags.String("temporal-profile", "", "profile of Temporal's configuration file (or TEMPORAL_PROFILE)")
	flags.String("temporal-config", "", "Temporal's configuration file (or TEMPORAL_CONFIG_FILE)")
	flags.Bool("offline", false, "fetch no outside binary: use what is there or fail")
}

// temporalOptions are the connection options that flags and environment ask for.
func (a *app) temporalOptions(logger *slog.Logger) temporalconn.Options {
	return temporalconn.Options{
		Address:    a.settings.GetString("temporal-address"),
		Namespace:  a.settings.GetString("temporal-namespace"),
		Profile:    a.settings.GetString("temporal-profile"),
		ConfigFile: a.settings.GetString("temporal-config"),
		Logger:     logger,
		Attributes: []string{contract.AttrPaper, contract.AttrReproduction, contract.AttrStage, contract.AttrDataUse},
		Server:     devserver.Options{StateDir: a.StateDir(), Notify: a.say, Resolve: a.temporalBinary},
	}
}

// openTemporal connects, starting or joining the embedded server where that is meant. The
// caller closes the connection after its workers have stopped.
func (a *app) openTemporal(ctx context.Context, o temporalconn.Options) (*temporalconn.Conn, error) {
	conn, err := temporalconn.Open(ctx, o)
	if err != nil {
		return nil, temporalError(err)
	}
	return conn, nil
}

// temporalBinary finds or fetches the Temporal command.
func (a *app) temporalBinary(ctx context.Context) (string, error) {
	b, err := resolve.Temporal(ctx, a.resolveOptions("temporal"))
	return b.Path, err
}

// resolveOptions say where outside binaries are looked for; setting names the flag that
// may hold a path.
func (a *app) resolveOptions(setting string) resolve.Options {
	return resolve.Options{Path: a.settings.GetString(setting), Offline: a.settings.GetBool("offline"), Progress: a.say}
}

// say prints one line of talk. It may be called from any goroutine.
func (a *app) say(line string) {
	a.talk.Lock()
	defer a.talk.Unlock()
	fmt.Fprintln(a.err, tame(line))
}

// temporalError gives an error of package temporalconn its exit code and hint.
func temporalError(err error) error {
	var e *temporalconn.Error
	if !errors.As(err, &e) {
		return err
	}
	out := &exitError{Code: exitUnreachable, Err: err, Hint: e.Hint()}
	if e.Kind == temporalconn.KindConfig {
		out.Code = exitUsage
	}
	return out
}
