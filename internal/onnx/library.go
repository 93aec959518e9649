//go:build cgo

package onnx

/*
#cgo linux LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>

// The two entries of the library's first table have kept their place since runtime 1.0.
typedef struct {
	const void *(*get_api)(unsigned int version);
	const char *(*get_version)(void);
} cx_api_base;

static const char *cx_version(void *entry) {
	const cx_api_base *base = ((const cx_api_base *(*)(void))entry)();
	return base ? base->get_version() : 0;
}
*/
import "C"

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"
)

// LibraryVersion loads the library, asks for its version and lets go of it again. It
// works with libraries of any age, so that one that is too old can be named.
//
// Errors: *LibraryError.
func LibraryVersion(path string) (string, error) {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	handle := C.dlopen(p, C.RTLD_LAZY)
	if handle == nil {
		return "", &LibraryError{Path: path, Why: "cannot be loaded: " + C.GoString(C.dlerror())}
	}
	defer C.dlclose(handle)
	name := C.CString("OrtGetApiBase")
	defer C.free(unsafe.Pointer(name))
	entry := C.dlsym(handle, name)
	if entry == nil {
		return "", &LibraryError{Path: path, Why: "is not ONNX Runtime: it has no OrtGetApiBase"}
	}
	v := C.cx_version(entry)
	if v == nil {
		return "", &LibraryError{Path: path, Why: "does not tell its version"}
	}
	return C.GoString(v), nil
}

// CheckLibrary returns the version of a library that this program's binding can use.
//
// Errors: *LibraryError.
func CheckLibrary(path string) (string, error) {
	version, err := LibraryVersion(path)
	if err != nil {
		return "", err
	}
	parts := strings.SplitN(version, ".", 3)
	if len(parts) >= 2 {
		major, err1 := strconv.Atoi(parts[0])
		minor, err2 := strconv.Atoi(parts[1])
		if err1 == nil && err2 == nil && (major > 1 || major == 1 && minor >= APIVersion) {
			return version, nil
		}
	}
	return "", &LibraryError{Path: path, Version: version,
		Why: fmt.Sprintf("is too old: version 1.%d or later is needed; hint: unset CXREPRO_ONNXRUNTIME to have the right one fetched, or point it at a newer library", APIVersion)}
}
