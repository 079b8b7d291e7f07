package backend

import "fmt"

// CheckUID returns an error if uid is not the name of a workspace. A name is 32
// lower-case hexadecimal characters, and is therefore safe as a file name.
func CheckUID(uid string) error {
	if len(uid) != 32 {
		return fmt.Errorf("workspace name: want 32 lower-case hexadecimal characters, got %d bytes", len(uid))
	}
	for i := range len(uid) {
		if c := uid[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return fmt.Errorf("workspace name: want 32 lower-case hexadecimal characters, got another at %d", i)
		}
	}
	return nil
}
