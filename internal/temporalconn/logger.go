package temporalconn

import (
	"context"
	"log/slog"

	"go.temporal.io/sdk/log"
)

// keyNames gives the SDK's attributes the names that our own log lines have.
var keyNames = map[string]string{
	"WorkflowID": "workflow_id", "WorkflowType": "workflow", "RunID": "temporal_run_id", "ActivityType": "activity",
	"ActivityID": "activity_id", "Attempt": "attempt", "TaskQueue": "task_queue", "Namespace": "namespace",
	"WorkerID": "worker_id", "Error": "err",
}

// logger hands the SDK's log lines to slog.
type logger struct{ to *slog.Logger }

var (
	_ log.Logger     = logger{}
	_ log.WithLogger = logger{}
)

// NewLogger returns the SDK's view of an slog logger; nil means silence.
func NewLogger(to *slog.Logger) log.Logger {
	if to == nil {
		to = slog.New(slog.DiscardHandler)
	}
	return logger{to}
}

func (l logger) log(level slog.Level, msg string, keyvals []any) {
	if l.to.Enabled(context.Background(), level) {
		l.to.Log(context.Background(), level, msg, renamed(keyvals)...)
	}
}

// Debug implements the SDK's Logger.
func (l logger) Debug(msg string, keyvals ...any) { l.log(slog.LevelDebug, msg, keyvals) }

// Info implements the SDK's Logger.
func (l logger) Info(msg string, keyvals ...any) { l.log(slog.LevelInfo, msg, keyvals) }

// Warn implements the SDK's Logger.
func (l logger) Warn(msg string, keyvals ...any) { l.log(slog.LevelWarn, msg, keyvals) }

// Error implements the SDK's Logger.
func (l logger) Error(msg string, keyvals ...any) { l.log(slog.LevelError, msg, keyvals) }

// With implements the SDK's WithLogger.
func (l logger) With(keyvals ...any) log.Logger { return logger{l.to.With(renamed(keyvals)...)} }

func renamed(keyvals []any) []any {
	out := make([]any, len(keyvals))
	copy(out, keyvals)
	for i := 0; i < len(out); i += 2 {
		if k, ok := out[i].(string); ok {
			if ours, ok := keyNames[k]; ok {
				out[i] = ours
			}
		}
	}
	return out
}
