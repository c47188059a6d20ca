package seen

import (
	"errors"
	"io/fs"
)

// What a failed call reports, besides fs.ErrNotExist, fs.ErrExist, fs.ErrPermission and fs.ErrClosed:
// use errors.Is.
var (
	ErrArgument    = errors.New("seen: invalid argument")
	ErrFormat      = errors.New("seen: damaged, truncated or not a filter")
	ErrMismatch    = errors.New("seen: parameters differ")
	ErrFull        = errors.New("seen: the set is full")
	ErrKind        = errors.New("seen: not possible with this kind of set")
	ErrNetwork     = errors.New("seen: the server does not answer")
	ErrUnsupported = errors.New("seen: not part of this build of libseen")
)

// Error is an error of libseen: its status code (seen.h) and a sentence that names the file or the
// server and says what to do.
type Error struct {
	Status  int
	Message string
}

func (e *Error) Error() string { return e.Message }

var kinds = map[int]error{2: ErrArgument, 4: ErrFormat, 5: fs.ErrExist, 6: fs.ErrNotExist, 7: ErrMismatch,
	8: ErrFull, 9: ErrKind, 10: fs.ErrPermission, 11: ErrNetwork, 13: ErrUnsupported}

// Is makes errors.Is work with the errors above and with those of package fs.
func (e *Error) Is(target error) bool { return kinds[e.Status] == target }
