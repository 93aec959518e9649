// Package dirstore keeps a bucket in a folder, one file per object. It is the default
// store and needs no service.
//
// A write goes to a file under tmp/, is hashed while it is written, and is then renamed
// to its name, so readers see the old object or the new one. Creating only-if-absent is
// one rename that refuses to replace; replacing only-if-unchanged compares and renames
// under a lock that dies with its process. Both are exact between processes.
//
// A file named cxrepro-store.json marks the folder as a store. A folder that has lost
// it (a share that is not mounted, a disk that is gone) is reported as unreachable,
// never as an empty store.
//
// By default an object survives the death of any process; with DurabilityPower it also
// survives a power cut.
package dirstore
