// Package attest signs statements and says who signed one: DSSE envelopes over in-toto
// statements, with one ed25519 key for each state folder.
//
// Terms. A key id is the SHA-256 of a public key in its standard encoding (SPKI), in
// hexadecimal digits: who knows the id can check a public key that comes along. A signer is
// known when its key is this folder's, present or former, or stands in a trust file.
//
// Private keys stay in the folder, readable by their owner alone, and leave it in no form. The
// package reads no environment and keeps nothing of what it signs.
//
//	keys, err := attest.Open(filepath.Join(state, "keys"))
//	key, err := keys.Current()
//	envelope := key.Sign(attest.StatementType, text)
package attest
